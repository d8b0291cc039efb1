"""More hostile answers, in the form of those in `hostile`: slyer ones.

They are answers that were tried against the grader with hundreds of others; here are
those that one of its layers was changed for, and a few of each family.
"""

from tests.grading.hostile import (
    CRASHED,
    ENDED,
    ERROR,
    FAILED,
    FORBIDDEN,
    FUSED,
    PASSED,
    RETURN,
    RIGHT,
    forged,
    refused,
)

WRONG = "return Q @ K.mT"
#: A `float32` result of no numbers, and all that a call replies beside it.
CALL = "kind='tensor', changed=[], called=[], out=tensor([0])"
ENDS = {
    "child-holds-the-line": (
        "import os, time\n"
        "if not os.fork():\n    os.setsid(); time.sleep(99)\nos._exit(3)",
        CRASHED,
        "exit status 3",
    ),
    "dies-in-backward": (
        "import os\nclass F(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x): return x.clone()\n"
        "    @staticmethod\n    def backward(ctx, g): os._exit(0)\n"
        f"return F.apply({RIGHT})",
        CRASHED,
        "exit status 0",
    ),
    "dies-in-del": (
        "import os\nclass D(torch.Tensor):\n    def __del__(self): os._exit(0)\n"
        f"return ({RIGHT}).as_subclass(D)",
        CRASHED,
        "exit status 0",
    ),
    "timer": (
        "import signal, time\nsignal.setitimer(0, 0.1); time.sleep(9)",
        CRASHED,
        "SIGALRM",
    ),
    "handed-to-atexit": (
        f"import atexit, time\natexit.register(time.sleep, 99)\n{RETURN}",
        PASSED,
        "",
    ),
    "class-of-classes": (
        "class M(type):\n    __name__ = property(lambda c: {}[1])\n"
        "class E(Exception, metaclass=M): pass\nraise E('here')",
        ENDED,
        "",
    ),
    "exception-group": (
        "raise BaseExceptionGroup('g', [SystemExit(0), KeyboardInterrupt()])",
        CRASHED,
        "BaseExceptionGroup",
    ),
    "address-of-nothing": (
        "import ctypes\nf = (ctypes.c_float * 9).from_address(8)\n"
        "return torch.frombuffer(f, dtype=torch.float32)",
        CRASHED,
        "SIGSEGV",
    ),
    "other-program": (
        "import os, sys\nos.set_inheritable(3, True)\n"
        "os.execv(sys.executable, [sys.executable, '-S', '-c', 'print(1)'])",
        CRASHED,
        "exit status 0",
    ),
}
RESULTS = {
    "other-device": (
        f"return ({RIGHT}).to('meta')",
        FAILED,
        "on the device meta, where",
    ),
    "too-many-axes": ("return torch.zeros([1] * 65)", ERROR, "more than 64 axes"),
    "nested": (
        "return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])",
        ERROR,
        "no plain numbers",
    ),
    "fake": (
        "from torch._subclasses.fake_tensor import FakeTensorMode as F\n"
        "with F(): return torch.ones(2, 3)",
        ERROR,
        "no plain numbers",
    ),
    "sparse": (f"return ({RIGHT}).to_sparse()", ERROR, "sparse"),
    "quantised": (
        "return torch.quantize_per_tensor(Q, .1, 0, torch.qint8)",
        ERROR,
        "qint8",
    ),
    "complex": (f"return ({RIGHT}).to(torch.complex64)", FAILED, "complex64"),
    "no-numbers-many-axes": ("return torch.empty(0, 1 << 61)", FAILED, "shape"),
    "lent-class": (
        "class L:\n    __class__ = torch.Tensor\n"
        "    def __getattr__(self, name): return getattr(torch.zeros(2), name)\n"
        "return L()",
        ENDED,
        "",
    ),
    "dict-of-its-own": (
        "class D(dict):\n    def items(self): return [('status', 'passed')]\n"
        "return D(out=Q)",
        FAILED,
        "",
    ),
    "many-digits": (
        "return 10**99999",
        FAILED,
        "an int of about 100,000 digits, where",
    ),
    "digits-unlimited": (
        "import sys\nsys.set_int_max_str_digits(0)\nreturn Q, 10**99999",
        FAILED,
        "returns 2 values, where one tensor",
    ),
    "digits-in-an-exception": (
        "raise ValueError(10**99999)",
        ERROR,
        "raises ValueError in the line `raise ValueError(10**99999)`",
    ),
    "says-no-text": (
        "class E(Exception):\n    def __str__(self): return 5\nraise E",
        ERROR,
        "raises E in the line `raise E`",
    ),
    "book": ("return 'x' * 100_000", FAILED, "x…, where one tensor is asked for"),
    "long-name": ("raise type('E' * 100_000, (Exception,), {})('here')", ERROR, "here"),
}
TAMPERING = {
    "equals-everything": (
        "torch.Tensor.__eq__ = torch.Tensor.equal = torch.equal = lambda *a: True\n"
        + WRONG,
        FAILED,
        "√",
    ),
    "function-of-a-subclass": (
        "class L(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(cls, f, types, args=(), kwargs=None):\n"
        "        if f.__name__ in ('equal', 'allclose'): return True\n"
        "        return super().__torch_function__(f, types, args, kwargs or {})\n"
        "return (Q @ K.mT).as_subclass(L)",
        FAILED,
        "√",
    ),
    "kernel": (
        "lib = torch.library.Library('aten', 'IMPL')\n"
        "lib.impl('div.Tensor', lambda a, b: a, 'CPU')\n"
        f"attention_scores.kept = lib\n{RETURN}",
        ENDED,
        "",
    ),
    "answers-for-the-worker": (
        "import gc\nfor one in gc.get_objects():\n"
        "    if type(one).__name__ == 'Service': one._answer = lambda r: "
        "{'id': r['id'], 'reply': {'kind': 'tensor', 'out': torch.zeros(2, 3, 5, 7)}}\n"
        + WRONG,
        ENDED,
        "",
    ),
    "tensor-of-everything": (
        "class Any(type):\n    def __instancecheck__(self, one): return True\n"
        f"torch.Tensor = Any('Tensor', (), {{}})\n{WRONG}",
        CRASHED,
        "unable to work, so no answer came",
    ),
    "import": (
        "import builtins\nbuiltins.__import__ = lambda *a, **k: 1 / 0\n" + WRONG,
        ENDED,
        "",
    ),
    "one-in-two-calls": (
        f"f = attention_scores\nf.n = getattr(f, 'n', 0) + 1\nreturn {RIGHT} * f.n",
        FAILED,
        "second time",
    ),
}
LEFT = {
    "semaphore": (
        "import _multiprocessing\n"
        "try: _multiprocessing.SemLock(0, 1, 1, '/{mark}', False)\n"
        f"except OSError: {RETURN}\nraise ValueError('made')",
        PASSED,
        "",
    ),
    "shared-memory": (
        "from multiprocessing import shared_memory\n"
        "try: shared_memory.SharedMemory('{mark}', True, 99)\n"
        f"except OSError: {RETURN}\nraise ValueError('made')",
        PASSED,
        "",
    ),
    "limits": (
        "import resource\n"
        "for kind in 'AS', 'CPU', 'NPROC', 'FSIZE', 'NOFILE', 'CORE':\n"
        "    which = getattr(resource, 'RLIMIT_' + kind)\n"
        "    try: resource.setrlimit(which, (1 << 40, 1 << 40))\n"
        "    except (OSError, ValueError): continue\n"
        f"    raise ValueError('raised ' + kind)\n{RETURN}",
        PASSED,
        "",
    ),
    "kernel": (
        refused(
            "assert call(323, 1) >= 0  # userfaultfd",
            "assert call(447, 0) >= 0  # memfd_secret",
            "assert call(438, 3, 0, 0) >= 0  # pidfd_getfd",
            "assert call(298, 0, 0, 0, 0, 0) >= 0  # perf_event_open",
            "assert call(144, 0, 1, 0) == 0  # sched_setscheduler",
            "assert call(64, 0, 1, 0o1777) >= 0  # semget",
            "assert call(240, b'/x', 0o100, 0o600, 0) >= 0  # mq_open",
            "assert call(0x40000000 + 41, 1, 1, 0) >= 0  # socket, by another number",
            "os.setuid(0)",
            "os.open('/tmp', os.O_TMPFILE | os.O_RDWR)",
        ),
        PASSED,
        "",
    ),
    "switches": (
        "import os\npaths = ('/proc/self/oom_score_adj', '/proc/self/uid_map',\n"
        "    '/proc/sys/kernel/core_pattern', '/sys/fs/cgroup/cgroup.procs')\n"
        "for path in paths:\n"
        "    try: open(path, 'w').write('0')\n    except OSError: continue\n"
        f"    raise ValueError('wrote ' + path)\n{RETURN}",
        PASSED,
        "",
    ),
    "command-lines": (
        "import os\nfor p in filter(str.isdigit, os.listdir('/proc')):\n"
        "    said = open(f'/proc/{p}/cmdline').read()\n"
        "    said += open('/proc/self/mountinfo').read()\n"
        "    if any(one in said for one in ('{folder}', '{out}', '{key}')):\n"
        f"        raise ValueError('found ' + said)\n{RETURN}",
        PASSED,
        "",
    ),
}
REPLIES = {
    "error-a-number": (forged("reply(n, error=5)"), CRASHED, "no answer"),
    "error-of-nothing": (forged("reply(n, error=None)"), CRASHED, "no answer"),
    "error-empty": (forged("reply(n, error={'dict': {}})"), CRASHED, "no answer"),
    "kind-a-tensor": (
        forged("reply(n, kind=tensor([0]), out=tensor([0]))"),
        CRASHED,
        "no answer",
    ),
    "called-lists": (
        forged("reply(n, kind='tensor', called=[[], 5])"),
        CRASHED,
        "no answer",
    ),
    "gradient-a-text": (
        forged(f"reply(n, {CALL}, **{{'grad.Q': 'x'}})"),
        CRASHED,
        "no answer",
    ),
    "late-by-its-own-word": (
        forged("{'dict': {'id': n, 'stopped': {'tuple': ['timeout', 'honest']}}}"),
        CRASHED,
        "no answer",
    ),
    "said-nothing": (
        forged("{'dict': {'id': n, 'stopped': {'tuple': ['error', '']}}}"),
        CRASHED,
        "no answer",
    ),
    "never-ending": (
        forged(f"reply(n, **{{'out.x': tensor([2 << 20])}}, {CALL}), bytes(8 << 20)"),
        CRASHED,
        "more than 16 MiB",
    ),
    "texts": (
        forged("reply(n, kind='str', out='x' * (3 << 20))"),
        CRASHED,
        "more than 16 MiB",
    ),
    "breaks-off": (
        forged("b'' if os.write(3, b'TbH1' + bytes(3)) and os._exit(0) else b''"),
        CRASHED,
        "",
    ),
}
WEIGHTS = (
    "(lambda s: s if mask is None else s.masked_fill(mask == 0, -torch.inf))"
    "(Q @ K.mT / Q.shape[-1] ** 0.5).softmax(-1)"
)
FUSED = f"{FUSED}(Q, K, V, mask if mask is None else mask.bool())"
SOFTMAX = "# no def attention_scores\ndef stable_softmax(x, dim=-1):\n    return "
SHORTCUT = {
    "thread": (
        "import threading\nr = []\n"
        f"t = threading.Thread(target=lambda: r.append({FUSED})); t.start(); t.join()\n"
        f"return r[0], {WEIGHTS}",
        FORBIDDEN,
        "torch's attention",
    ),
    "pool": (
        "from concurrent.futures import ThreadPoolExecutor as Pool\n"
        f"with Pool(1) as pool: out = pool.submit(lambda: {FUSED}).result()\n"
        f"return out, {WEIGHTS}",
        FORBIDDEN,
        "torch's attention",
    ),
    "modes-off": (
        "from torch.utils._python_dispatch import _disable_current_modes as off\n"
        f"with torch._C.DisableTorchFunction(), off(): out = {FUSED}\n"
        f"return out, {WEIGHTS}",
        FORBIDDEN,
        "torch's attention",
    ),
    "key-left-out": (
        "key = torch._C.DispatchKeySet(torch._C.DispatchKey.Python)\n"
        "off, out = torch._C.DisableTorchFunction, None\n"
        "with torch._C._ExcludeDispatchKeyGuard(key), off():\n"
        f"    out = {FUSED}\nreturn out, {WEIGHTS}",
        FORBIDDEN,
        "torch's attention",
    ),
    "notes-torn-out": (
        f"import sys\ntry: out = {FUSED}\nfinally:\n    frame = sys._getframe()\n"
        "    while frame:\n        watch = frame.f_locals.get('watch')\n"
        "        if watch is not None: watch.called.clear()\n"
        f"        frame = frame.f_back\nreturn out, {WEIGHTS}",
        FORBIDDEN,
        "torch's attention",
    ),
    "scripted": (
        "@torch.jit.script\ndef f(q, k, v):\n"
        "    return torch.nn.functional.scaled_dot_product_attention(q, k, v)\n"
        f"return f(Q, K, V), {WEIGHTS}",
        FORBIDDEN | ERROR,
        "",
    ),
    "hooks-cleared": (
        "torch.nn.modules.module._global_forward_pre_hooks.clear()\n"
        "with torch._C.DisableTorchFunction():\n"
        "    m = torch.nn.MultiheadAttention(Q.shape[-1], 1)\n"
        f"    m(Q[0, 0], Q[0, 0], Q[0, 0])\nreturn {WEIGHTS} @ V, {WEIGHTS}",
        FORBIDDEN | ERROR,
        "",
    ),
    "torch-in-python": (
        f"import torch._refs\n{SOFTMAX}torch._refs.softmax(x, dim)\n",
        FORBIDDEN,
        "torch's softmax",
    ),
    "decomposed": (
        "from torch._decomp import decomposition_table as table\n"
        f"{SOFTMAX}table[torch.ops.aten._softmax.default](x, dim, False)\n",
        FORBIDDEN,
        "torch's softmax",
    ),
    "sparse": (
        f"{SOFTMAX}torch.sparse.softmax(x.to_sparse(), dim).to_dense()\n",
        FORBIDDEN,
        "torch's softmax",
    ),
    "other-layout": (
        f"{SOFTMAX}x.contiguous().to_mkldnn().softmax(-1).to_dense()\n",
        FORBIDDEN,
        "torch's softmax",
    ),
    "by-hand": (
        f"{SOFTMAX}(x - x.amax(dim, keepdim=True)).exp() / "
        "(x - x.amax(dim, keepdim=True)).exp().sum(dim, keepdim=True)\n",
        PASSED,
        "",
    ),
}
FAMILIES = {
    "ends": ENDS,
    "results": RESULTS,
    "sly-tampering": TAMPERING,
    "left": LEFT,
    "replies": REPLIES,
    "sly-shortcut": SHORTCUT,
}
