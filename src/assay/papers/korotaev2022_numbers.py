"""The numbers printed in korotaev2022 (Tables 1-4, footnote 4, and its text); readings."""

from __future__ import annotations

DOCUMENTS = {"DocI": "Doc I", "DocII": "Doc II", "DocIII": "Doc III"}
"""The documents, as the files and as the paper call them."""
ENGINES = ("Amazon", "Google", "Human")
HUMAN = "Human"
MEASURES = {"time": "time", "distance": "distance", "changed": "segments"}
"""The measures, as Assay and as the paper call them."""

FEATURES = (
    "Flesch", "LIX", "Dale-Chall", "characters per word", "type-token ratio", "words per sentence",
    "words", "sentences", "paragraphs",
)  # fmt: skip
TABLE_1 = {
    "Doc I": (33.08, 58.42, 12.00, 5.43, 0.52, 23.22, 534, 23, 5),
    "Doc II": (33.04, 57.88, 12.08, 5.44, 0.53, 21.58, 518, 24, 7),
    "Doc III": (32.35, 58.09, 12.10, 5.40, 0.51, 22.44, 561, 25, 7),
}
WORDS = {name: float(row[6]) for name, row in TABLE_1.items()}
ALMOST = {
    ("Doc I", "Flesch"): "one syllable",
    ("Doc II", "Dale-Chall"): "one difficult word",
    ("Doc II", "type-token ratio"): "one type",
}
"""Cells of Table 1 that are known to be missed, and by how little."""

RELATIVE = {
    "Doc I": (0.9143482, 0.9199029, 1.084156729),
    "Doc II": (0.8712726, 1.038835, 0.865417376),
    "Doc III": (1.3182554, 1.0412621, 1.050425894),
    "Amazon": (1.6108999, 1.4126214, 1.160136286),
    "Google": (1.4801239, 1.2063107, 1.162521295),
    "Human": (0.5869889, 0.381068, 0.677342419),
}
"""Tables 2 and 3: time, distance, segments."""

PLACES = {"Amazon": (0, 2, 4, 16), "Google": (0, 4, 2, 14), "Human": (6, 0, 0, 6)}
"""Table 4: least, middle and most effort, score."""

FOOTNOTE = {"Doc I": (45.0, 1.467391304), "Doc II": (32.0, 1.043478261), "Doc III": (15.0, 0.489130435)}  # noqa: E501  # fmt: skip
"""Footnote 4: an editor's changed segments (%) and their ratio to the mean."""

KNEE = 0.2812415593714895
"""Printed by the authors' scripts, not in the paper; so is the radius they chose."""
EPS = 0.14
PIECES = (12, 24, 25)
"""Doc I-III among the pieces of the corpus, which are numbered from 0."""

READINGS = (
    "Table 1: 24 of 27 cells; Doc I's Flesch is off by one syllable, Doc II's Dale-Chall by one"
    " word and its type-token ratio by one type",
    "reading: Tables 2 and 3 pool the editors before the ratio is taken, and time is mean speed"
    " over speed, so that its columns do not add up to the number of rows; section 3.5 describes"
    " each editor's ratio to that editor's mean (tables 'as described'), by which Amazon and Google"
    " change places; without Editor 2 they do not (table 'readings')",
    "reading: speeds of documents go by the words of Table 1, those of engines by the words of the"
    " edited segments; distances and shares were rounded to a decimal before they were averaged"
    " (table 'readings': unrounded)",
    "reading: Table 4 sums ratios with time as mean speed over speed; with the ratio of section 3.5"
    " Amazon and Google both have 15 points ('Table 4, as described')",
    "reading: Figure 2's interval is that of the mean of three measures (t, 2 degrees of freedom);"
    " the paper does not say; Figures 1 and 3 are the sums of Tables 2 and 3",
    "the knee is that of the distances to the nearest neighbour; it would make one cluster of most"
    " pieces; the radius .14 was chosen by the authors, and the closest kit needs none",
    "Doc I-III are the closest three pieces of all, and DBSCAN's one cluster: Table 1 is theirs",
    "terms: the list of everyday words was chosen with these three documents in view; with the"
    " Dale-Chall list alone 'frequent_words' refuses them, 2 of 5 methods accept, not most, and the"
    " closest three within the limits are others (pieces 8, 14, 60, diameter .147); 'pmi' accepts"
    " nearly all pieces and has a vote because the paper gives it one",
    "H1 is neither shown nor rejected here either, H2 holds on every measure; the paper's evidence"
    " for Google against Amazon is undetermined",
)
