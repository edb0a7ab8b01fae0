"""Writes compact-sorted.json beside this file: bodies signed by Python, without any of this package's code.

    python3 test/vectors/make-compact-sorted.py

`compact` and `sorted` sign the parsed body as ECMAScript writes it, so three of its rules are applied here:
numbers are doubles, names that look like array indexes come first, and names sort by UTF-16 code unit.
"""

import base64
import hashlib
import hmac
import itertools
import json
import pathlib

KEY = "sk_merchant_vectorM1sk_partner_vectorP1"

# Members as (name, JSON literal): what was written, before anything was parsed.
BODIES = {
    "plain": [("b", "1"), ("a", '"text"'), ("c", "[true,false,null]")],
    "empty": [],
    "nested": [("z", '{"y":{"d":1,"c":[{"b":2,"a":3}]},"x":{}}'), ("a", "[[],{}]")],
    "numbers": [("n1", "10.0"), ("n2", "1e2"), ("n3", "-0"), ("n4", "9007199254740993"), ("n5", "15000.10")],
    "escapes": [("url", '"https:\\/\\/a.example\\/x"'), ("name", '"Ad\\u00e9b\\u00e1y\\u1ecd\\u0300"'), ("c", '"\\u0001\\b\\t\\n\\f\\r\\"\\\\"')],
    "surrogate pair": [("emoji", '"\\ud83d\\ude00 and 😀"'), ("s", '"\u2028\u007f"')],
    # By code point 😀 (U+1F600) is the greatest; by code unit it is D83D, before U+E000 and U+FFFF.
    "code units": [("\uffff", "1"), ("😀", "2"), ("\ue000", "3"), ("é", "4"), ("Z", "5"), ("a", "6")],
    "code units, nested": [("o", '{"\uffff":1,"😀":2,"\ue000":3}'), ("A", "1"), ("_", "2")],
    "index names": [("b", "1"), ("10", "2"), ("2", "3"), ("01", "4"), ("a", "5"), ("4294967295", "6")],
    "repeated member": [("a", "1"), ("b", "2"), ("a", "3")],
    "prototype names": [("toString", "1"), ("__proto__", '{"polluted":true}'), ("constructor", "2")],
    "nested signature": [("s", '{"signature":"inner","a":1}'), ("word", '"signature"')],
}
LAYOUTS = {"compact": (",", ":"), "python": (", ", ": "), "spaced": (" , ", " : ")}


def write(members, item, colon):
    return "{" + item.join(json.dumps(name, ensure_ascii=False) + colon + text for name, text in members) + "}"


def number(literal):
    value = float(literal)
    return int(value) if value.is_integer() else value


def is_index(name):
    return name.isdigit() and str(int(name)) == name and int(name) < 2**32 - 1


def ordered(value, key, only=lambda name: True):
    if isinstance(value, list):
        return [ordered(item, key, only) for item in value]
    if not isinstance(value, dict):
        return value
    moved = sorted(filter(only, value), key=key)
    names = moved + [name for name in value if name not in moved]
    return {name: ordered(value[name], key, only) for name in names}


def signed_text(serialization, text):
    if serialization == "as-sent":
        return text
    value = json.loads(text, parse_int=number, parse_float=number)
    if serialization == "compact":
        value = ordered(value, int, is_index)
    else:
        value = ordered(value, lambda name: name.encode("utf-16-be"))
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def sign(construction, encoding, text):
    key, message = KEY.encode(), text.encode()
    digest = {
        "hmac": lambda: hmac.new(key, message, hashlib.sha512),
        "hash-suffix": lambda: hashlib.sha512(message + key),
        "hash-prefix": lambda: hashlib.sha512(key + message),
    }[construction]()
    if encoding == "base64":
        return base64.b64encode(digest.digest()).decode()
    return digest.hexdigest().upper() if encoding == "hex-upper" else digest.hexdigest()


schemes = itertools.product(
    ("hmac", "hash-suffix", "hash-prefix"), ("as-sent", "compact", "sorted"), ("hex", "hex-upper", "base64")
)
vectors = []
for construction, serialization, encoding in schemes:
    for index, (body, members) in enumerate(BODIES.items()):
        layout = list(LAYOUTS)[index % 3]
        place = index % (len(members) + 1)
        signed = signed_text(serialization, write(members, *LAYOUTS[layout]))
        signature = sign(construction, encoding, signed)
        sent = members[:place] + [("signature", json.dumps(signature))] + members[place:]
        vectors.append(
            {
                "name": f"{construction} {serialization} {encoding}: {body}",
                "scheme": {"construction": construction, "serialization": serialization, "encoding": encoding},
                "sentText": write(sent, *LAYOUTS[layout]),
                "signedText": signed,
                "signature": signature,
            }
        )

path = pathlib.Path(__file__).with_name("compact-sorted.json")
about = "Made by make-compact-sorted.py. Each sentText is rightly signed with the key; signedText is what was signed."
lines = ",\n".join(json.dumps(vector) for vector in vectors)
path.write_text(f'{{"about":{json.dumps(about)},"key":{json.dumps(KEY)},"vectors":[\n{lines}\n]}}\n')
