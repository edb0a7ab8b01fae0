"""Writes schemes.json beside this file: bodies signed by Python in every part of a scheme, without this package's code.

    python3 test/vectors/make-schemes.py
"""

import itertools
import json
import pathlib
import random
import sys

sys.dont_write_bytecode = True

from scheme_reference import *  # noqa: E402, F403

rng = random.Random(20250102)
vectors = []


def add(scheme, body, members, layout=None):
    """`layout` None is what JSON.stringify writes, with the signature last: what signBody itself posts."""
    own = layout is None
    if own:
        pieces = LAYOUTS["compact"]
        text = compact(parse(lay(members, *pieces)))
        members = [(name, compact(value)) for name, value in js_order(once(parse(text)))]
        place = len(members)
    else:
        pieces = LAYOUTS[layout]
        text = lay(members, *pieces)
        place = rng.randrange(len(members) + 1)
    key = order_key(scheme)
    signed = signed_text(scheme["serialization"], scheme.get("joiner", ""), text)
    signature = sign(scheme, key, signed)
    sent = lay(members[:place] + [("signature", f'"{signature}"')] + members[place:], *pieces)
    # What is not JSON.stringify's own may come out as such all the same, when there is nothing to spell otherwise.
    own = own or sent == lay([*((n, compact(v)) for n, v in js_order(once(parse(text)))), ("signature", f'"{signature}"')], *LAYOUTS["compact"])
    extras = ", ".join(f"{part} {scheme[part]!r}" for part in ("separator", "joiner", "orderKey", "keySeparator") if part in scheme)
    name = f'{scheme["construction"]} {scheme["serialization"]} {scheme["encoding"]}{" (" + extras + ")" if extras else ""}: {body}, {layout or "own"}'
    # Whether signBody itself posts this text.
    vectors.append({"name": name, "scheme": scheme, "key": key, "sent": sent, "signed": signed, "own": own})


def turns(items):
    """Each as often as any other, in a mixed order."""
    while True:
        yield from rng.sample(items, len(items))


separators, joiners, order_keys, key_separators, layouts = map(turns, (SEPARATORS, JOINERS, ORDER_KEYS, KEY_SEPARATORS, [*LAYOUTS]))

# Every construction x serialisation x encoding; every serialisation x body.
for place, serialization in enumerate(SERIALIZATIONS):
    for slot, (construction, encoding) in zip(range(len(BODIES)), itertools.cycle(itertools.product(CONSTRUCTIONS, ENCODINGS))):
        body, members = list(BODIES.items())[(slot * 7 + place * 3) % len(BODIES)]
        if body == "repeated names" and serialization in NO_REPETITION:
            body, members = ("delete", DELETE) if serialization != "php" else ("everything", EVERYTHING)
        add(scheme_of(construction, serialization, encoding, next(separators), next(joiners), next(order_keys), next(key_separators)), body, members, next(layouts))

# Every construction x serialisation as signBody itself posts it.
encodings = turns(ENCODINGS)
for construction, serialization in itertools.product(CONSTRUCTIONS, SERIALIZATIONS):
    add(scheme_of(construction, serialization, next(encodings), next(separators), next(joiners), next(order_keys), next(key_separators)), "everything", EVERYTHING)

# Every separator, joiner and key, whatever the turns above have left out.
bodies = turns([(body, BODIES[body]) for body in BODIES if body != "repeated names"])
for construction, separator in itertools.product(CONSTRUCTIONS[1:], SEPARATORS):
    add(scheme_of(construction, "as-sent", next(encodings), separator), *next(bodies), next(layouts))
for joiner in JOINERS:
    add(scheme_of("hmac", "values", next(encodings), "", joiner), "separators in values", BODIES["separators in values"], next(layouts))
constructions = turns(CONSTRUCTIONS)
for order, key_separator in itertools.product(ORDER_KEYS, KEY_SEPARATORS):
    add(scheme_of(next(constructions), "sorted", next(encodings), "", "", order, key_separator), *next(bodies))

about = (
    "Made by make-schemes.py. Each `sent` is rightly signed with `key`, the key for orders that the scheme makes of the "
    "credentials; `signed` is what was signed; `own` says whether signBody posts this very text."
)
credentials = {"partnerPublicKey": PUBLIC, "partnerSecretKey": PARTNER, "merchantSecretKey": MERCHANT}
lines = ",\n".join(json.dumps(vector, ensure_ascii=False) for vector in vectors)
path = pathlib.Path(__file__).with_name("schemes.json")
path.write_text(f'{{"about":{json.dumps(about)},\n"credentials":{json.dumps(credentials)},\n"vectors":[\n{lines}\n]}}\n', encoding="utf-8")
