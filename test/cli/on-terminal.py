"""Runs a command on a terminal of its own: on-terminal.py ANSWERS COMMAND...

ANSWERS is a JSON list of [wait for this text, then type this]. What the command prints goes to stdout.
"""
import fcntl, json, os, pty, struct, sys, termios

answers = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    # A new terminal has no size: 24 lines of 80 columns.
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
seen = ""
while True:
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
