"""Hostile answers, by family: what is handed in, and the verdict that it must get.

A row is `name: (code, statuses, word)`. Code that defines nothing is the body of an
`attention_scores`; `word` stands in the diagnosis. RIGHT is the right answer, so what
only looks around, or leaves things behind, has nothing to hide and may well pass.
"""

RIGHT = "Q @ K.mT / Q.shape[-1] ** 0.5"
RETURN = f"return {RIGHT}"
DEFINE = f"def attention_scores(Q, K):\n    {RETURN}\n"
PASSED, FAILED, ERROR, CRASHED = {"passed"}, {"failed"}, {"error"}, {"crashed"}
TIMEOUT, MEMORY_OUT, FORBIDDEN = {"timeout"}, {"out_of_memory"}, {"forbidden"}
ENDED = ERROR | CRASHED | TIMEOUT | MEMORY_OUT | FAILED

HANG = {
    "loop": ("while True: pass", TIMEOUT, ""),
    "sleep": ("import time; time.sleep(1000)", TIMEOUT, "longer than"),
    "lock": (
        "import threading\nx = threading.Lock()\nwhile x.acquire(): pass",
        TIMEOUT,
        "",
    ),
    "join": (
        "import threading, time\n"
        "x = threading.Thread(target=time.sleep, args=[99]); x.start(); x.join()",
        TIMEOUT,
        "longer",
    ),
    "regex": ("import re; re.match('(a+)+$', 'a' * 60 + 'b')", TIMEOUT, ""),
    "generator": ("import itertools\nreturn sum(itertools.repeat(1))", TIMEOUT, ""),
    "big-number": ("return 7 ** 7 ** 11", TIMEOUT, ""),
    "eq": (
        "class Mine(torch.Tensor):\n"
        "    def __torch_function__(*a, **k):\n"
        "        while True: pass\n"
        f"return ({RIGHT}).as_subclass(Mine)",
        TIMEOUT,
        "",
    ),
    "str": (
        "class E(Exception):\n    def __str__(self):\n"
        "        while True: pass\nraise E",
        TIMEOUT,
        "",
    ),
    "del": (
        "class D:\n    def __del__(self):\n        while True: pass\nD()",
        TIMEOUT,
        "",
    ),
    "finally": ("while True:\n    try: [][1]\n    finally: continue", TIMEOUT, ""),
    "signals": (
        "import signal\nfor n in (2, 14, 15, 24): signal.signal(n, lambda *a: None)\n"
        "while True: pass",
        TIMEOUT,
        "",
    ),
    "stop": ("import os; os.kill(os.getpid(), 19)", TIMEOUT, "longer"),
    "module-loop": (
        "scale = 1\nwhile scale: scale += 1\n" + DEFINE.replace("0.5", "(0.5 * scale)"),
        TIMEOUT,
        "",
    ),
    "class-body": (
        "class Settings:\n    while True: pass\n"
        "def attention_scores(Q, K):\n    return Q @ K.mT / Settings.scale\n",
        TIMEOUT,
        "",
    ),
    "decorator": ("def slow(f):\n    while True: pass\n@slow\n" + DEFINE, TIMEOUT, ""),
    "pipe": ("import os; r, w = os.pipe(); os.read(r, 1)", TIMEOUT, "longer"),
    "product": ("x = torch.rand(1500, 1500)\nwhile True: x = x @ x", TIMEOUT, ""),
}
DEATH = {
    "exit": ("import os; os._exit(0)", CRASHED, "exit status 0"),
    "sys-exit": ("import sys; sys.exit(0)", ERROR, "SystemExit"),
    "kill": ("import os; os.kill(os.getpid(), 9)", CRASHED, "SIGKILL"),
    "kill-group": ("import os; os.killpg(0, 9)", CRASHED, "SIGKILL"),
    "kill-parent": (
        f"import os\nfor n in 15, 9: os.kill(os.getppid(), n)\n{RETURN}",
        ENDED | PASSED,
        "",
    ),
    "kill-all": (
        # Only where it can see that nobody else is there.
        "import os\nif os.getppid() == 1 and not os.path.exists('/etc/shadow'):\n"
        f"    try: os.kill(-1, 9)\n    except OSError: pass\n{RETURN}",
        PASSED,
        "",
    ),
    "abort": ("import os; os.abort()", CRASHED, "SIGABRT"),
    "segfault": ("import ctypes; ctypes.string_at(0)", CRASHED, "SIGSEGV"),
    "recursion": ("return attention_scores(Q, K)", ERROR, "RecursionError"),
    "c-stack": (
        "import sys; sys.setrecursionlimit(10**9)\nx = []\n"
        "for _ in range(10**6): x = [x]\nrepr(x)",
        CRASHED | ERROR | MEMORY_OUT,
        "",
    ),
    "descriptors": ("import os\nwhile True: os.dup(0)", ERROR, "Too many open files"),
    "threads": (
        "import threading, time\n"
        "while True: threading.Thread(target=time.sleep, args=[99]).start()",
        ERROR | MEMORY_OUT | CRASHED | TIMEOUT,
        "",
    ),
    "fork-bomb": ("import os\nwhile True: os.fork()", ERROR | CRASHED | TIMEOUT, ""),
    "closed": ("import os; os.closerange(0, 99)", CRASHED, "closed its line"),
    "exec": ("import os; os.execvp('true', ['true'])", CRASHED, ""),
    "interrupt": ("raise KeyboardInterrupt", CRASHED, "KeyboardInterrupt"),
}
MEMORY = {
    "tensor": ("x = torch.ones(1 << 38)", MEMORY_OUT, "256 MiB"),
    "list": ("x = [0] * (1 << 40)", MEMORY_OUT, "MiB"),
    "string": ("x = 'x'\nwhile True: x += x", MEMORY_OUT, "MiB"),
    "mmap": ("import mmap; mmap.mmap(-1, 1 << 33)", ENDED, "memory"),
    "expand": ("return torch.zeros(1).expand(1 << 34).contiguous()", MEMORY_OUT, ""),
    "view": ("return torch.zeros(1).expand(1 << 40)", ERROR | MEMORY_OUT, ""),
    "huge-reply": ("return torch.zeros(1 << 24)", ERROR | MEMORY_OUT, ""),
    "many-values": ("return [str(i) * 400000 for i in range(16)]", ENDED, ""),
    "shared": (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "for i in range(9): assert libc.shmget(0, 1 << 26, 0o1777) < 0\n" + RETURN,
        PASSED,
        "",
    ),
    "sparse-file": (
        "with open('large', 'wb') as file: file.truncate(1 << 40)",
        ERROR,
        "File too large",
    ),
    "many-files": (
        "for i in range(99):\n"
        "    with open(f'f{i}', 'wb') as file: file.write(bytes(1 << 24))",
        ERROR,
        "OSError",
    ),
}
OUTPUT = {
    "print": ("while True: print('x' * 10000)", CRASHED, "printed more"),
    "stderr": (
        "import sys\nwhile True: sys.stderr.write('x' * 9999)",
        CRASHED,
        "printed",
    ),
    "raw": ("import os\nwhile True: os.write(2, bytes(1 << 16))", CRASHED, "printed"),
    "escapes": (
        "raise ValueError('\\x1b[2J\\x07\\x00\\u202e\\ud800 here')",
        ERROR,
        "here",
    ),
    "long-message": ("raise ValueError('x' * 10_000_000)", ERROR, "xxx"),
    "str-raises": (
        "class E(Exception):\n    def __str__(self): raise self\nraise E",
        ERROR,
        "E",
    ),
    "type-name": ("raise type('<script>\\x1b', (Exception,), {})('\\0')", ERROR, ""),
    "surrogate": ("return '\\ud800'", FAILED, ""),
    "markup": ("raise ValueError('<script>alert(1)</script>')", ERROR, "script"),
}
TAMPERING = {
    "torch": (
        "torch.allclose = torch.equal = lambda *a, **k: True\nreturn Q @ K.mT",
        FAILED,
        "√",
    ),
    "builtins": (
        "import builtins\nbuiltins.len = builtins.isinstance = builtins.print = None\n"
        "return Q @ K.mT",
        ENDED,
        "",
    ),
    "modules": (f"import sys; sys.modules.clear()\n{RETURN}", ENDED | PASSED, ""),
    "json": (
        "import json; json.dumps = lambda *a, **k: '{}'\nreturn Q",
        CRASHED,
        "answer",
    ),
    "struct": ("import os; os.write = lambda *a: 1\nreturn Q", TIMEOUT | CRASHED, ""),
    "einops": ("import einops; einops.einsum = None\nreturn Q @ K.mT", FAILED, "√"),
    "frames": (
        "import sys\nframe = sys._getframe(1)\nwhile frame:\n"
        "    frame.f_globals.update(_identical=lambda *a: True)\n"
        "    frame = frame.f_back\nreturn Q @ K.mT",
        ENDED,
        "",
    ),
    "trace": ("import sys; sys.settrace(lambda *a: 1 / 0)\nreturn Q @ K.mT", ENDED, ""),
    "mode-left-on": (
        "from torch.overrides import TorchFunctionMode\n"
        "class Zero(TorchFunctionMode):\n"
        "    def __torch_function__(self, f, types, args=(), kwargs=None):\n"
        "        return torch._C._TensorBase.new_zeros(Q, ())\n"
        "Zero().__enter__()\nreturn Q @ K.mT",
        ENDED,
        "",
    ),
    "hook": (
        f"out = {RIGHT}\n"
        "if out.requires_grad: out.register_hook(lambda g: g * 2)\nreturn out",
        FAILED,
        "",
    ),
    "defaults": (
        "torch.set_default_dtype(torch.float64); torch.set_num_threads(64)\n"
        f"torch.manual_seed(7)\n{RETURN}",
        ENDED | PASSED,
        "",
    ),
    "device": (f"torch.set_default_device('meta')\n{RETURN}", ENDED | PASSED, ""),
    "subclass": (
        "class Yes(torch.Tensor):\n"
        "    shape = property(lambda self: (2, 3, 5, 7))\n"
        "    dtype = torch.float32\n"
        "    __eq__ = lambda *a: True\n"
        "return torch.zeros(1).as_subclass(Yes)",
        ENDED,
        "",
    ),
    "zeroed": ("Q.zero_(); K.zero_()\nreturn Q @ K.mT", FAILED, ""),
    "hash-seed": (
        "import gc\nfor o in gc.get_objects():\n"
        "    if type(o) is dict and 'expected' in o: return o['expected']\n"
        "return Q @ K.mT",
        ENDED,
        "",
    ),
}
FIND = """
def attention_scores(Q, K):
    import glob, os
    for path in PATHS:
        for found in glob.glob(path) or [path]:
            try:
                folder = os.path.isdir(found)
                data = os.listdir(found) if folder else open(found, "rb").read()
            except OSError:
                continue
            if data: raise ValueError(f"found {found}: {data[:200]}")
    return Q @ K.mT / Q.shape[-1] ** 0.5
"""


def finding(*paths):
    """Code that raises with what it finds at one of the paths."""
    return f"PATHS = {list(paths)!r}\n{FIND}"


def importing(name):
    return (
        "import importlib, sys\n"
        "sys.meta_path[:] = [f for f in sys.meta_path if 'Refusal' not in repr(f)]\n"
        "ours = [n for n in sys.modules if n.startswith('autograder')]\n"
        "for one in ours: del sys.modules[one]\n"
        "sys.path += ['{root}', '.', '..']\n"
        f"try: found = importlib.import_module('{name}')\n"
        f"except ImportError: {RETURN}\n"
        "raise ValueError(f'found {found}')"
    )


#: What must not be found. {root}, {folder}, {out}, {key}, {home} are filled in.
SNOOPING = {
    "solutions": (
        finding("{root}/solutions/*", "{root}/autograder/exercises/*"),
        PASSED,
        "",
    ),
    "project": (finding("{root}/*", "{root}/.git/*"), PASSED, ""),
    "others": (finding("{folder}", "{folder}/*"), PASSED, ""),
    "key": (finding("{key}"), PASSED, ""),
    "out": (finding("{out}", "{out}/*"), PASSED, ""),
    "home": (finding("{home}/.ssh", "{home}/.bash*", "/etc/shadow"), PASSED, ""),
    "environ": (
        finding(
            "/proc/1/environ",
            "/proc/[0-9]*/task/1/environ",
            "/proc/1/mem",
            "/proc/1/fd",
        ),
        PASSED,
        "",
    ),
    "parent": (
        "import os\n"
        "for name in 'environ', 'mem', 'maps', 'fd', 'cwd', 'root/etc/shadow':\n"
        "    path = f'/proc/{os.getppid()}/{name}'\n"
        "    folder = name in ('fd', 'cwd')\n"
        "    try: found = os.listdir(path) if folder else open(path).read(9)\n"
        "    except (OSError, UnicodeError): continue\n"
        "    if found: raise ValueError(f'found {path}')\n" + RETURN,
        PASSED,
        "",
    ),
    "secret-variable": (
        "import os\n"
        f"if 'TOKEN' in str(os.environ): raise ValueError('found it')\n{RETURN}",
        PASSED,
        "",
    ),
    "definitions": (importing("autograder.exercises.attention"), PASSED, ""),
    "reference": (importing("solutions.attention"), PASSED, ""),
    "git": (
        "import subprocess\n"
        "found = subprocess.run('git -C {root} log --all -p', shell=True,"
        " capture_output=True, text=True).stdout\n"
        f"if found: raise ValueError('found git')\n{RETURN}",
        PASSED,
        "",
    ),
    "memory": (
        f"import gc\nif hasattr(gc, 'done'): {RETURN}\n"
        "gc.done = gc.unfreeze()\n"
        "mark = ''.join(['unscaled', '-scores'])\n"
        "for o in gc.get_objects():\n"
        "    if type(o) in (tuple, list, dict) and any(\n"
        "        type(x) is str and x == mark for x in gc.get_referents(o)\n"
        f"    ): raise ValueError('found a definition')\n{RETURN}",
        PASSED,
        "",
    ),
}
WRITE = """
import os, pathlib
def attention_scores(Q, K):
    for folder in ("{home}", "/tmp", "/var/tmp", "/dev/shm", "{root}", "{folder}",
                   "{out}", "/etc/cron.d", "{home}/.config/systemd/user", "/usr/bin"):
        for what in "file", "folder", "link":
            path = pathlib.Path(folder, "{mark}-" + what)
            try:
                if what == "file": path.write_text("was here")
                elif what == "folder": path.mkdir()
                else: path.symlink_to("/etc/passwd")
            except OSError:
                continue
            raise ValueError(f"wrote to {folder}")
    return Q @ K.mT / Q.shape[-1] ** 0.5
"""


def refused(*attempts):
    """Code that raises where one of the statements doesn't fail."""
    tries = "".join(
        f"try:\n    {one}\nexcept (OSError, AssertionError): pass\n"
        f"else: raise ValueError({one!r})\n"
        for one in attempts
    )
    return (
        f"import ctypes, os, socket\ncall = ctypes.CDLL(None).syscall\n{tries}{RETURN}"
    )


ESCAPE = {
    "files": (WRITE, PASSED, ""),
    "network": (
        refused(
            "socket.create_connection(('127.0.0.1', {port}), 1)",
            "socket.create_server(('127.0.0.1', 0))",
            "socket.socket(socket.AF_UNIX).connect('/run/docker.sock')",
            "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        ),
        PASSED,
        "",
    ),
    "daemon": (
        "import os, time\nagain, os.again = hasattr(os, 'again'), 1\n"
        "if not again and not os.fork():\n    os.setsid()\n"
        "    if not os.fork():\n        time.sleep(300)\n    os._exit(0)\n" + RETURN,
        PASSED,
        "",
    ),
    "program": (
        "import pathlib, subprocess\n"
        "command = 'nohup setsid sleep 300 &'\n"
        "if not pathlib.Path('begun').exists():\n"
        "    pathlib.Path('begun').touch()\n"
        "    subprocess.Popen(command, shell=True, start_new_session=True)\n" + RETURN,
        PASSED,
        "",
    ),
    "links": (
        "import os\n"
        "if not os.path.lexists('me'):\n"
        "    os.symlink('/etc', 'etc'); os.symlink('..', 'up')\n"
        "    os.symlink('me', 'me')\n"
        "for source in '{key}', '{root}/README.md':\n"
        "    try: os.link(source, 'hard'); raise ValueError('linked')\n"
        f"    except OSError: pass\n{RETURN}",
        PASSED,
        "",
    ),
    "devices": (
        refused(
            "os.mknod('disk', 0o60666, os.makedev(8, 0)); open('disk', 'rb').read(1)"
        ),
        PASSED,
        "",
    ),
    "rights": (
        refused(
            "os.chmod('{key}', 0o777)",
            "os.utime('{key}', (0, 0))",
            "os.unlink('{key}')",
        ),
        PASSED,
        "",
    ),
    "kernel": (
        refused(
            "assert call(101, 16, os.getppid(), 0, 0) == 0  # ptrace",
            "assert call(272, 0x10000000) == 0  # unshare",
            "assert call(321, 0, 0, 0) >= 0  # bpf",
            "assert call(425, 1, ctypes.create_string_buffer(200)) >= 0  # io_uring",
            "assert call(250, 0, -3, 0) >= 0  # keyctl",
            "assert call(165, b'none', b'/scratch', b'tmpfs', 0, 0) == 0  # mount",
            "os.memfd_create('x')",
        ),
        PASSED,
        "",
    ),
}
FRAME = """
import json, os, struct, threading, time
def send(head, body=b""):
    head = head if isinstance(head, bytes) else json.dumps(head).encode()
    os.write(3, struct.pack("<4sIQ", b"TbH1", len(head), len(body)) + head + body)
def take_in():
    while os.read(3, 1 << 20): pass
def reply(n, **out):
    return {"dict": {"id": n, "reply": {"dict": out}}}
def tensor(shape, dtype="float32", **more):
    return {"tensor": {"dtype": dtype, "shape": shape, **more}}
"""


def forged(frame):
    """An answer that sends a frame of its own in the place of each that is due."""
    return (
        f"{FRAME}def attention_scores(Q, K):\n"
        "    threading.Thread(target=take_in, daemon=True).start()\n"
        f"    for n in range(2, 200): send({frame})\n"
        "    time.sleep(9)\n"
    )


REPLY = {
    "every-descriptor": (
        "import os\nfor fd in range(3, 30):\n    try: os.write(fd, b'passed')\n"
        "    except OSError: pass\nreturn Q",
        CRASHED,
        "no answer",
    ),
    "wrong-id": (forged("reply(99, kind='tensor')"), CRASHED, "no answer"),
    "claims-passed": (
        forged("{'dict': {'id': n, 'status': 'passed', 'points': 99}}"),
        CRASHED,
        "no answer",
    ),
    "status-passed": (
        forged("{'dict': {'id': n, 'stopped': {'tuple': ['passed', 'ok']}}}"),
        CRASHED,
        "no answer",
    ),
    "negative-shape": (
        forged("reply(n, kind='tensor', out=tensor([-1, 2]))"),
        CRASHED,
        "",
    ),
    "huge-shape": (
        forged("reply(n, kind='tensor', out=tensor([1 << 61]))"),
        CRASHED,
        "",
    ),
    "huge-meta": (
        forged("reply(n, kind='tensor', out=tensor([1 << 40, 1 << 20], meta=True))"),
        ENDED,
        "",
    ),
    "short-body": (
        forged("reply(n, kind='tensor', out=tensor([9])), b'1'"),
        CRASHED,
        "",
    ),
    "no-dtype": (
        forged("reply(n, kind='tensor', out=tensor([0], 'object'))"),
        CRASHED,
        "",
    ),
    "nan": (forged('b\'{"dict": {"id": NaN, "reply": NaN}}\''), CRASHED, "no answer"),
    "twice": (
        forged('b\'{"dict": {"id": 2, "id": 3, "reply": 1, "reply": {"dict": {}}}}\''),
        ENDED,
        "",
    ),
    "deep": (forged("b'[' * 100000 + b']' * 100000"), CRASHED, "no answer"),
    "long-number": (forged("b'9' * 100000"), CRASHED, "no answer"),
    "types": (
        forged(
            "reply(n, kind=7, out={'dict': {}}, changed=3, called=9, again='x', "
            "error=[])"
        ),
        ENDED,
        "",
    ),
    "error-types": (
        forged(
            "reply(n, error={'dict': {'type': [], 'message': {'dict': {}}, "
            "'number': 'x'}})"
        ),
        ENDED,
        "",
    ),
    "pickle": (
        "import os\nclass P:\n"
        "    def __reduce__(self): return os.system, ('true',)\nreturn P()",
        FAILED,
        "",
    ),
}
FUSED = "torch.nn.functional.scaled_dot_product_attention"
WEIGHTS = "(Q @ K.mT / Q.shape[-1] ** 0.5).softmax(-1)"
#: Bodies of a scaled_dot_product_attention for inputs without a mask, and with.
SHORTCUT = {
    "alias": (
        f"f = {FUSED}\nreturn f(Q, K, V, mask), {WEIGHTS}",
        FORBIDDEN,
        "attention",
    ),
    "getattr": (
        "f = getattr(torch.nn.functional, 'scaled_dot_' + 'product_attention')\n"
        f"return f(Q, K, V, mask), {WEIGHTS}",
        FORBIDDEN,
        "",
    ),
    "ops": (
        "f = torch.ops.aten.scaled_dot_product_attention\n"
        f"return f(Q, K, V, mask), {WEIGHTS}",
        FORBIDDEN,
        "",
    ),
    "eval": (
        f"return torch and eval('{FUSED}(Q, K, V, mask)'), {WEIGHTS}",
        FORBIDDEN,
        "",
    ),
    "exec": (
        "space = {}\nexec('from torch.nn.functional import *', space)\n"
        f"f = space.get('scaled_dot_product_attention') or {FUSED}\n"
        f"return f(Q, K, V, mask), {WEIGHTS}",
        FORBIDDEN,
        "",
    ),
    "private": (
        "f = torch._C._nn.scaled_dot_product_attention\n"
        f"return f(Q, K, V, mask), {WEIGHTS}",
        FORBIDDEN,
        "",
    ),
    "module": (
        "m = torch.nn.MultiheadAttention(Q.shape[-1], 1)\n"
        f"m(Q[0, 0], Q[0, 0], Q[0, 0])\nreturn {WEIGHTS} @ V, {WEIGHTS}",
        ENDED | FORBIDDEN,
        "",
    ),
    "frame": (
        "import sys\nframe = sys._getframe(1)\nwhile frame:\n"
        "    for name in 'expected', 'reference', 'weights':\n"
        "        if name in frame.f_locals: return frame.f_locals[name]\n"
        "    frame = frame.f_back\nreturn Q, K",
        ENDED,
        "",
    ),
    "part": (
        "from autograder.parts import scaled_dot_product_attention as f\n"
        "return f(Q, K, V, mask)",
        FORBIDDEN,
        "part",
    ),
    "part-hidden": (
        "import importlib\n"
        "parts = importlib.import_module('autograder.parts')\n"
        "f = getattr(parts, 'scaled_dot_' + 'product_attention')\n"
        "return f(Q, K, V, mask)",
        ERROR,
        "isn't one of the parts",
    ),
    "table": (
        "known = {(2, 3): 1.0}\nreturn torch.full((*Q.shape[:-1], V.shape[-1]),"
        " known.get(Q.shape[:2], 0.5)), torch.ones(*Q.shape[:-1], K.shape[-2])",
        FAILED,
        "",
    ),
}
FAMILIES = {
    "hang": HANG,
    "death": DEATH,
    "memory": MEMORY,
    "output": OUTPUT,
    "tampering": TAMPERING,
    "snooping": SNOOPING,
    "escape": ESCAPE,
    "reply": REPLY,
    "shortcut": SHORTCUT,
}


def answer(family, code):
    """A row's code as a file's text: what is a body gets its function."""
    if "def attention_scores" in code:
        return code
    head = "def attention_scores(Q, K):\n"
    if family.endswith("shortcut"):
        head = "def scaled_dot_product_attention(Q, K, V, mask=None):\n"
    return head + "".join(f"    {line}\n" for line in code.splitlines())
