"""Runs a command on a terminal of its own: on-terminal.py ANSWERS COMMAND...

ANSWERS is a JSON list of [wait for this text, then type this]. stdin is typed too, as it comes.
Ctrl-C and Ctrl-Z for a shell wait until one of its jobs has the terminal. The output of the command goes to stdout.
TERMINAL_SIZE is a JSON list of lines and columns (default: [24, 80]).
"""
import fcntl, json, os, pty, select, struct, sys, termios, time

answers = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    # A new terminal has no size.
    rows, columns = json.loads(os.environ.get("TERMINAL_SIZE", "[24, 80]"))
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])


def wait_for_job():
    """A shell names the job that it continues before it gives it the terminal: a key in between reaches the shell."""
    deadline = time.monotonic() + 10
    while os.tcgetpgrp(terminal) == child and time.monotonic() < deadline:
        time.sleep(0.005)


seen = ""
sources = [terminal, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        typed = os.read(0, 65536)
        if typed:
            if sys.argv[2] == "bash" and typed in (b"\x03", b"\x1a"):
                wait_for_job()
            os.write(terminal, typed)
        else:
            sources.remove(0)
    if terminal not in ready:
        continue
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if not part:
        break
    sys.stdout.buffer.write(part)
    sys.stdout.flush()
    seen += part.decode("utf-8", "replace")
    while answers and answers[0][0] in seen:
        seen = ""
        os.write(terminal, answers.pop(0)[1].encode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
