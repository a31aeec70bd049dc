"""Reads the linked data of HTML pages, named as arguments, and prints it as N-Quads."""

import json
import pathlib
import sys

from pyld import jsonld

CONTEXT = json.loads(pathlib.Path("schema-org.json").read_text(encoding="utf-8"))


def load(url, _options):
    """The context is a file beside this program, a page the file that is named."""
    if url.startswith("https://schema.org"):
        return {"contentType": "application/ld+json", "contextUrl": None, "documentUrl": url, "document": CONTEXT}
    text = pathlib.Path(url.rsplit("/", 1)[1]).read_text(encoding="utf-8")
    return {"contentType": "text/html", "contextUrl": None, "documentUrl": url, "document": text}


for page in sys.argv[1:]:
    sys.stdout.write(jsonld.normalize(
        "https://calendar.example.org/" + page,
        {"algorithm": "URDNA2015", "format": "application/n-quads", "documentLoader": load, "extractAllScripts": False},
    ))
