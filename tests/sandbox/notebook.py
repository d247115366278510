"""Cells that a dishonest and an honest student run; each leaves facts in `seen`.

The first cell defines `denied`, which runs an attack and says whether it failed.
`OUTSIDE` is filled in by the test: what there is outside, and where.
"""

SETUP = """
import errno, json, os, re, signal, socket, subprocess, sys, tempfile, threading, ctypes
import torch
seen = {}
OUTSIDE = json.loads(%r)

def denied(attack):
    try:
        attack()
    except (OSError, MemoryError, RuntimeError, ImportError) as error:
        return True
    return False
"""

ATTACKS = {
    "files": """
for name, path in OUTSIDE["files"].items():
    seen["read " + name] = denied(lambda: open(path).read())
    # Not open(path, "a"): it makes the file where the sandbox has an own folder of that
    # name, as it has below /tmp. The one outside can be written only if it is there.
    seen["write " + name] = denied(lambda: os.open(path, os.O_WRONLY))
for name, path in OUTSIDE["folders"].items():
    seen["list " + name] = denied(lambda: os.listdir(path))
seen["links"] = not os.path.lexists("stolen.txt")
seen["pipes"] = not os.path.exists("pipe")
def judge():
    import autograder.grading.judge.handle
seen["course"] = denied(judge)
""",
    "network": """
def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as s:
        s.settimeout(2)
        s.connect(address)
        s.send(b"hello")
seen["tcp"] = denied(lambda: connect(socket.AF_INET, ("127.0.0.1", OUTSIDE["port"])))
seen["internet"] = denied(lambda: connect(socket.AF_INET, ("192.0.2.1", 80)))
seen["udp"] = denied(
    lambda: connect(socket.AF_INET, ("192.0.2.1", 53), socket.SOCK_DGRAM))
seen["abstract"] = denied(lambda: connect(socket.AF_UNIX, "\\0" + OUTSIDE["abstract"]))
seen["server"] = denied(lambda: connect(socket.AF_UNIX, OUTSIDE["server"]))
seen["packets"] = denied(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
def lingers():
    one, other = socket.socketpair()
    with one, other:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, 0, 0, 0] * 2))
        return any(one.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8))
seen["linger"] = not lingers()
""",
    "processes": """
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    if getattr(libc, name)(*args) == -1:
        raise OSError(ctypes.get_errno(), name)
seen["kill"] = OUTSIDE["pid"] == os.getpid() or denied(
    lambda: os.kill(OUTSIDE["pid"], signal.SIGKILL))
seen["parent"] = os.getppid() in (0, 1) or denied(lambda: os.kill(os.getppid(), 0))
seen["ptrace"] = denied(lambda: call("ptrace", 0, 0, 0, 0))
seen["unshare"] = denied(lambda: call("unshare", 0x10000000))
seen["mount"] = denied(lambda: call("mount", b"x", b"/tmp", b"tmpfs", 0, 0))
seen["keys"] = denied(lambda: call("syscall", 248 if sys.maxsize and
    os.uname().machine == "x86_64" else 217, b"user", b"a", b"b", 1, -3))
# Programs that insist on a session of their own run, and have none.
leave = "import os; os.setsid(); print(os.getsid(0) == os.getpid())"
left = subprocess.run(
    [sys.executable, "-c", leave], capture_output=True, start_new_session=True)
seen["session"] = left.stdout == b"False\\n"
seen["capabilities"] = "CapEff:\\t0000000000000000" in open("/proc/self/status").read()
seen["no new privileges"] = "NoNewPrivs:\\t1" in open("/proc/self/status").read()
""",
    "secrets": r"""
held = "".join(f"{k}={v}" for k, v in os.environ.items())
try:
    held += open("/proc/self/environ").read() + open("/proc/1/environ").read()
except OSError:
    pass
seen["environment"] = OUTSIDE["secret"] not in held
seen["home"] = os.environ["HOME"] != OUTSIDE["home"]
shipped = r"autograder([.](aliases|root|checks|figures|sandbox)([.].*)?)?"
ours = r"([.](library|measures)([.].*)?|[.]\w+([.](probes|library)([.].*)?)?)?"
seen["modules"] = all(
    re.fullmatch(f"{shipped}|transformer_course{ours}", m)
    for m in sys.modules if m.split(".")[0] in ("autograder", "transformer_course"))
""",
    "greed": """
too_big = (OUTSIDE["file_mb"] << 20) + 1
seen["file"] = denied(lambda: open("big", "wb").truncate(too_big))
seen["tensor"] = denied(lambda: torch.ones(OUTSIDE["memory_mb"] << 18))
seen["memfd"] = denied(lambda: os.memfd_create("hidden"))
def fork_many():
    started = []
    try:
        for _ in range(OUTSIDE["processes"] + 50):
            started.append(subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE))
    finally:
        for one in started:
            one.stdin.close()
            one.wait()
seen["processes"] = denied(fork_many)
def open_many():
    held = [open("/dev/null") for _ in range(OUTSIDE["open_files"] + 1)]
seen["open files"] = denied(open_many)
""",
    "disk": """
def fill():
    for i in range(OUTSIDE["disk_mb"] // OUTSIDE["file_mb"] + 1):
        with open(f"part{i}", "wb") as f:
            os.posix_fallocate(f.fileno(), 0, OUTSIDE["file_mb"] << 20)
seen["disk"] = denied(fill)
def many():
    for i in range(OUTSIDE["many"]):
        open(f"many{i}", "w").close()
seen["number of files"] = denied(many)
for name in os.listdir("."):
    if name.startswith(("many", "part")):
        os.remove(name)
""",
    "shared memory": """
shared = "/dev/shm/"
seen["shared by others"] = denied(lambda: open(shared + OUTSIDE["shm"]).read())
# What can be written there is the sandbox's own folder, or one of its own.
if not denied(lambda: open(shared + "mine", "w").close()):
    def fill_shared():
        for i in range(OUTSIDE["disk_mb"] // OUTSIDE["file_mb"] + 1):
            with open(shared + f"part{i}", "wb") as f:
                os.posix_fallocate(f.fileno(), 0, OUTSIDE["file_mb"] << 20)
    seen["shared memory"] = denied(fill_shared)
    for name in os.listdir(shared):
        if name.startswith("part"):
            os.remove(shared + name)
""",
}

HONEST = {
    "work": """
seen["submission"] = open("notes.txt").read() == "mine"
seen["write"] = open("result.txt", "w").write("done") == 4
import shutil
shutil.copy("notes.txt", "copy.txt")
with tempfile.TemporaryDirectory() as folder:
    open(folder + "/x", "w").write("x")
seen["survives"] = torch.ones(3).sum().item() == 3
""",
    "subprocess": """
run = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True)
seen["subprocess"] = run.stdout == b"42\\n"
out = !echo hello
seen["captured shell"] = list(out) == ["hello"]
""",
    "shell": "!echo from the shell",
    "loader": """
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.arange(12.).reshape(6, 2))
got = torch.cat([b for (b,) in DataLoader(data, batch_size=2, num_workers=2)])
seen["loader"] = torch.equal(got, data.tensors[0])
""",
    "processes": """
from multiprocessing import Lock, Process, Queue, RLock, Semaphore, Value, shared_memory
lock, twice, queue, count = Lock(), RLock(), Queue(), Value("i", 0)
def add():
    with lock, twice, twice:
        count.value += 1
    queue.put(os.getpid())
helpers = [Process(target=add) for _ in range(3)]
for one in helpers: one.start()
for one in helpers: one.join()
seen["locks"] = count.value == 3
seen["queue"] = sorted(queue.get(timeout=20) for _ in helpers) == sorted(
    one.pid for one in helpers)
gate = Semaphore(1)
seen["gate"] = gate.acquire() and not gate.acquire(timeout=0.05)
block = shared_memory.SharedMemory(create=True, size=100)
block.buf[0] = 7
again = shared_memory.SharedMemory(name=block.name)
seen["blocks"] = again.buf[0] == 7
again.close(); block.close(); block.unlink()
""",
    "threads": """
torch.set_num_threads(2)
x = torch.randn(300, 300)
seen["threads"] = bool(torch.isfinite(x @ x).all())
torch.set_num_threads(1)
""",
    "kit": """
import autograder
from autograder import check
seen["kit"] = callable(check)
""",
    "channel": """
os.write(int(os.environ["AUTOGRADER_CHANNEL_FD"]), b"answer")
""",
    "picture": "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()",
}

REPORT = "print('SEEN' + json.dumps(seen))"
