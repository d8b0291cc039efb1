"""A filter of system calls: what no exercise needs, a worker is refused (EPERM).

Most of it only an administrator may do anyhow; but a mistake in the kernel is found in
such calls more often than in `read`. The rest reaches past files: sockets, signals to
other processes, memory that no limit counts.
"""

import ctypes
import errno
import platform
import struct

from . import linux

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
LOAD, EQUAL, GREATER, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
NEWEST = 467  # the last call that this list knows; libraries do without newer ones

#: Flags of clone that make namespaces: cgroup, uts, ipc, user, pid, net and mount.
NAMESPACES = 0x7E020000

#: Numbers on x86-64 and on aarch64; "-" where there is no such call.
TABLE = """
ptrace 101 117             process_vm_readv 310 270   process_vm_writev 311 271
kcmp 312 272               pidfd_getfd 438 438        process_madvise 440 440
process_mrelease 448 448   name_to_handle_at 303 264  open_by_handle_at 304 265
mount 165 40               umount2 166 39             pivot_root 155 41
chroot 161 51              move_mount 429 429         open_tree 428 428
fsopen 430 430             fsconfig 431 431           fsmount 432 432
fspick 433 433             mount_setattr 442 442      open_tree_attr 467 467
unshare 272 97             setns 308 268              personality 135 92
add_key 248 217            request_key 249 218        keyctl 250 219
bpf 321 280                perf_event_open 298 241    userfaultfd 323 282
io_uring_setup 425 425     io_uring_enter 426 426     io_uring_register 427 427
kexec_load 246 104         kexec_file_load 320 294    fanotify_init 300 262
init_module 175 105        finit_module 313 273       delete_module 176 106
reboot 169 142             swapon 167 224             swapoff 168 225
acct 163 89                quotactl 179 60            quotactl_fd 443 443
settimeofday 164 170       clock_settime 227 112      clock_adjtime 305 266
adjtimex 159 171           sethostname 170 161        setdomainname 171 162
syslog 103 116             vhangup 153 58             lookup_dcookie 212 18
iopl 172 -                 ioperm 173 -               modify_ldt 154 -
socket 41 198              memfd_create 319 279       memfd_secret 447 447
execveat 322 281           shmget 29 194              semget 64 190
msgget 68 186              mq_open 240 180            mq_unlink 241 181
migrate_pages 256 238      move_pages 279 239         ioprio_set 251 30
sched_setparam 142 118     sched_setscheduler 144 119 sched_setattr 314 274
sched_setaffinity 203 122  setpriority 141 140
"""
#: What changes files that may not be written, where others' can be reached at all.
OF_FILES = """
chmod 90 -                 fchmodat 268 53            fchmodat2 452 452
chown 92 -                 lchown 94 -                fchownat 260 54
utime 132 -                utimes 235 -               utimensat 280 88
futimesat 261 -            setxattr 188 5             lsetxattr 189 6
removexattr 197 14         lremovexattr 198 15        setxattrat 463 463
removexattrat 466 466
"""
SIGNALS = """
kill 62 129                tgkill 234 131             rt_sigqueueinfo 129 138
rt_tgsigqueueinfo 297 240
"""
UNSAFE_SIGNALS = "tkill 200 130 pidfd_send_signal 424 424"
CLONE, CLONE3, PRLIMIT = (56, 220), 435, (302, 261)

#: Of each architecture: the number that the kernel gives it, its column in the tables.
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

REFUSE = ERRNO | errno.EPERM
LACKING = ERRNO | errno.ENOSYS


def install(pid: int | None, files: bool) -> None:
    """Filter this process's calls from now on, and those of its children.

    With a `pid`, signals go to that process only; with `files`, the rights, owners and
    times of files stay as they are. Raises OSError where this system can't.
    """
    code = b"".join(program(pid, files))
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    linux.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header)


def program(pid: int | None, files: bool) -> list[bytes]:
    """The filter, as the instructions that the kernel's BPF machine runs."""
    try:
        architecture, column = MACHINES[platform.machine()]
    except KeyError as error:
        raise OSError(f"no system calls are known for {platform.machine()}") from error
    refused = _numbers(TABLE + (OF_FILES if files else ""), column)
    if pid is not None:
        refused += _numbers(UNSAFE_SIGNALS, column)
    steps = [
        _step(LOAD, ARCHITECTURE),
        _step(EQUAL, architecture, 1, 0),
        _step(RETURN, REFUSE),  # 32-bit programs have numbers of their own
        _step(LOAD, NUMBER),
        *_answer(GREATER, NEWEST, LACKING),  # and so have those of x32
        *_answer(EQUAL, CLONE3, LACKING),  # its flags are out of sight: use clone
    ]
    for number in refused:
        steps += _answer(EQUAL, number, REFUSE)
    steps += _only(CLONE[column], [_step(ANY_BIT, NAMESPACES, 0, 1), *_refusal()])
    own = [_step(EQUAL, 0, 1, 0), *_refusal()]
    steps += _only(PRLIMIT[column], own)  # limits of other processes are theirs
    if pid is not None:
        own = [_step(EQUAL, 0, 2, 0), _step(EQUAL, pid, 1, 0), *_refusal()]
        for number in _numbers(SIGNALS, column):
            steps += _only(number, own)
    return [*steps, _step(RETURN, ALLOW)]


def _numbers(table: str, column: int) -> list[int]:
    fields = table.split()
    found = fields[1 + column :: 3]
    return [int(number) for number in found if number != "-"]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; the jumps are counted from the next one."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _answer(test: int, value: int, answer: int) -> list[bytes]:
    return [_step(test, value, 0, 1), _step(RETURN, answer)]


def _refusal() -> list[bytes]:
    return [_step(RETURN, REFUSE)]


def _only(number: int, tests: list[bytes]) -> list[bytes]:
    """Steps for one call alone, that look at its first argument and then allow it."""
    inside = [_step(LOAD, FIRST_ARGUMENT), *tests, _step(RETURN, ALLOW)]
    return [_step(EQUAL, number, 0, len(inside)), *inside]
