"""The receiver of examples/languages/receiver.py behind Flask; it stores each event in the file EVENTS, if there is one."""
import os, sys
from flask import Flask, request
from werkzeug.serving import WSGIRequestHandler, make_server
import receiver

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = receiver.LIMIT

@app.post("/")
def receive():
    if "Transfer-Encoding" in request.headers:
        return "", 411  # Werkzeug also takes chunks with a length.
    body = request.get_data()
    if receiver.verify(body, known) is None:
        return "", 401
    if "EVENTS" in os.environ:
        open(os.environ["EVENTS"], "ab", 0).write(body + b"\0")
    return ""

class Handler(WSGIRequestHandler):
    timeout = 5  # Seconds without a byte.

    def log_request(self, *_):
        pass

if __name__ == "__main__":
    try:
        known = receiver.keys()
    except ValueError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    make_server("127.0.0.1", int(sys.argv[2]), app, threaded=True, request_handler=Handler).serve_forever()
