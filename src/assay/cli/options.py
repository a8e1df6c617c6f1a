"""Every option of the command line, by the name of its parameter: one meaning, one help text.

A command is a function whose keyword-only parameters, with type and default, are its options. Their
help texts, and those of its arguments, are here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

from typer import BadParameter


def as_share(text: str) -> float:
    """``10%`` or ``0.1`` as a number.

    >>> as_share("5%"), as_share("0.1")
    (0.05, 0.1)
    """
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def share(said: str | float) -> float:
    """The share that an option states; a project has it as a number."""
    try:
        return as_share(str(said))
    except ValueError:
        raise BadParameter("give a share such as 10% or 0.1") from None


Text: TypeAlias = str | None
File: TypeAlias = Path | None
Number: TypeAlias = float | None
Count: TypeAlias = int | None
Better: TypeAlias = Literal["higher", "lower"]

HELP = {
    "after": "Folder of the same files after editing.",
    "alike": "Documents count as alike if their effort ratio lies between 1/R and R.",
    "allocation": "segments: how many to draw from each stratum.",
    "allow_unreachable": "Accept a design that can never draw some segments.",
    "assume": "How the segments were chosen, if there is no sample: random or documents.",
    "assume_alike": "Assume that the documents are alike (identical kits).",
    "backend": "Where the work runs; by default --workers and --scheduler decide.",
    "before": "Folder of a translation tool's files before editing.",
    "better": "Whether higher or lower ratings are better (MQM: lower).",
    "bin_size": "segments: size of a metric stratum (80).",
    "blanks": "Outputs without a rank in WMT rankings: drop them, or count them as best.",
    "borrow": "Use the other systems' ratings to judge how hard each segment is.",
    "budget": "How much to rate or spend: 142 segments, 20%, '15000 ratings', '300 EUR' or '20"
    " hours'.",
    "by": "Split results (or campaigns) by a column such as domain or lp; estimate: also by"
    " document, length or category.",
    "calibrate": "Shorten the ranges as far as simulated campaigns of this size allow.",
    "candidates": "Of this many samples, keep the best by the metric.",
    "careless": "How many raters answer at random.",
    "cell": "Variance of editor x document.",
    "checks": "Attention checks: share of outputs shown again as a spoiled copy. Default: 0.",
    "clean": "What to remove: citations, notes, addresses, headings.",
    "cluster_rule": "From ratings: end a cluster where neighbours differ (default) or, as at WMT,"
    " where all above differ from all below.",
    "clusters": "Goal: mean number of clusters.",
    "columns": "Your column names: seg=seg_id,score=mqm.",
    "compare": "Compare two systems: difference, p, power.",
    "correlation": "Correlation between ratings and metrics.",
    "count": "How many to choose.",
    "data": "Folder with the paper's data.",
    "debug": "If a command fails, show where in the code.",
    "decide": "The true difference between two systems that the ratings should find.",
    "density": "Largest ratio between the pieces' counts of terms, or none.",
    "design": "The design, by name (listed above).",
    "design_effect": "The design's variance relative to a simple random sample.",
    "designs": "Designs to compare.",
    "difference_sd": "Standard deviation of the paired differences.",
    "documents": "Names of the documents, as many as systems.",
    "draws": "Samples or campaigns to simulate.",
    "each_pair": "From judgments: apply the level to each pair alone, not to all together.",
    "earlier": "The result saved at the last look; its looks are kept.",
    "editor": "The editor, if the XLIFF file names none.",
    "editors": "How many editors, or their names.",
    "empty": "Empty translations: refuse them, take them as unchanged, or keep them (all was"
    " deleted).",
    "eps": "Radius of dbscan; default: the knee.",
    "errors": "The marked errors, for --by category.",
    "exclude": "Systems to leave out, such as a reference.",
    "exclude_raters": "Raters to leave out; the effect is shown.",
    "family": "Make all verdicts hold together at the level (Holm).",
    "features": "Number of metrics behind the correlation; default: 1.",
    "figure": "Draw the figure to this .svg, .pdf or .png file.",
    "figure_by_editor": "Draw each editor's work to this file.",
    "figures": "Folder for the figures (SVG and PNG).",
    "format": "Another tool's format, such as google-mqm or sdlxliff.",
    "formats": "File formats: tsv, xlsx, xliff, or several.",
    "gap": "The difference to find, in the scores' unit.",
    "goal": "What to aim for.",
    "guarantee": "Intervals that hold however often you look; needs --range.",
    "half_width": "Target half-width of the intervals.",
    "held_out": "A second metric to judge the samples by.",
    "history": "Ratings of other systems on these segments; estimate: or an earlier campaign with"
    " the same metrics.",
    "holm": "Correct the tests for the number of pairs (Holm).",
    "host": "Address to listen on.",
    "human": "Which system is the human translation.",
    "human_scores": "Which human scores to read from an mt-metrics-eval folder.",
    "importance": "A numeric column: draw segments in proportion to it.",
    "instructions": "A text file with your own instructions to raters.",
    "interval": "Kind of interval: auto, t, skew-t, betting, hoeffding or bernstein.",
    "json": "Print one JSON object instead of tables.",
    "key": "File for the key; default: FOLDER-key.tsv.",
    "kind": "Kind of table: scores, ratings, errors, judgments, edits or sample; guessed by"
    " default.",
    "kit_design": "Who edits what, as saved by `assay kits design`.",
    "kits": "Result of `assay kits find`: do harder documents take more effort?",
    "language": "Language of the texts: en has five features, any other three.",
    "languages": "Source and target language.",
    "leaving": "How many raters leave half-way.",
    "length": "fixed-snippets: segments per snippet (10).",
    "length_tolerance": "Lengths may differ by ± this share; none: no limit.",
    "level": "Confidence level.",
    "limits": "Read larger files than usual: columns=20000,rows=1e9.",
    "list_formats": "List other tools' formats.",
    "longest_first": "fixed-snippets: longest documents first.",
    "look": "Only what was known at this planned look.",
    "looks": "Planned looks: how many, or at which sizes.",
    "lower_metrics": "Metrics where lower is better.",
    "lp": "Language pair, if the file has several or names none.",
    "margin": "Parity: at most this share more effort, such as 0.1.",
    "marks": "A table of errors that raters start from.",
    "matched": "Whether all systems are rated on the same segments.",
    "max_snippet": "snippets, rounds: longest snippet (10).",
    "measure": "distance, time or changed.",
    "measures": "time, distance, changed, hter; default: not hter.",
    "method": "The method, by name (listed above).",
    "methods": "Designs and estimators to try.",
    "metric": "The metric that ranks the systems.",
    "metrics": "Metric columns; default: all numeric ones.",
    "mode": "closest: the most alike; dbscan: the paper's clusters.",
    "only": "Read only these rows: lp=en-de,domain=news.",
    "open": "Open the report in the browser.",
    "origin": "Your files: tables, a folder of texts, a WMT folder; convert: table or format of"
    " SRC; campaign new: the tool that the file was made for.",
    "outputs": "Outputs shown side by side, 1 to 8.",
    "overlap": "Share of tasks given to one more rater. Default: 10%.",
    "pairs": "Also print the table of pairs.",
    "parts": "Folder for every table (CSV, Markdown, LaTeX) and figure (SVG, PDF).",
    "pattern": "How the paths of edited files are built: {system}/{editor}/{doc}.",
    "pay": "What one answer costs: '0.12 EUR per rating', '18 EUR per hour, 40 s per rating'.",
    "per_output": "Raters per output (1).",
    "per_set": "Systems shown together; default: as many as so far.",
    "pieces": "Pieces per kit.",
    "pilot": "Answers collected so far.",
    "place": "The order of documents is rotated, and the analysis allows for it.",
    "population": "Segments in the test set; default: the pilot's.",
    "port": "Port to listen on.",
    "power": "Probability of finding the gap.",
    "practice": "What WMT practice ranks by: the mean (default) or z scores.",
    "profile": "How words are counted.",
    "protocol": "How raters judge outputs, such as esa or mqm.",
    "public_url": "Address that links start with, behind a proxy.",
    "published": "The published claims: a table with system and cluster or rank, or with better and"
    " worse.",
    "range": "The rating scale; scores outside are refused.",
    "range_kind": "Kind of bootstrap range; default: shortest.",
    "range_size": "Goal: mean size of rank ranges.",
    "ranges": "Rank ranges from resampling (default) or from tests.",
    "rank_sum": "From ratings: test single outputs instead of documents, as WMT does.",
    "rate": "What an editor's hour costs: 40 EUR.",
    "raters": "Who rates: names, or how many.",
    "ratings": "Ratings of the same systems: do they agree with the effort?",
    "reason": "The reason, kept in the list of events.",
    "remove_severity": "Subtract each rater's severity first.",
    "repeats": "Share of tasks that raters get twice. Default: 0.",
    "replace": "Replace an existing project.",
    "resample": "The unit to resample, inside which judgments are correlated; auto: segment, else"
    " set, else pair.",
    "resamples": "Number of resamples (1000).",
    "residual": "Variance of segments within a document.",
    "rounding": "segments: round at random, or by largest remainder.",
    "runs": "Number of runs behind best / median / worst.",
    "sample": "The sample: which segments, and how they were drawn.",
    "save": "Save the result (.json) for `assay report`.",
    "scheduler": "A dask cluster: tcp://HOST:8786.",
    "scores": "The test set (a scores table).",
    "sd": "Standard deviation of one system's ratings.",
    "seconds_per_word": "Rating time per word, for a budget in minutes without a cost column.",
    "seed": "Random seed; the output repeats it.",
    "segments": "Segments per document.",
    "shared": "Largest share of common terms, or none.",
    "sheets": "Write a blind sheet per rater, or another tool's task list.",
    "sides": "Two-sided (2) or one-sided (1) tests.",
    "sigma": "Noise of a judgment on a scale of 10 (WMT12: 7 to 12); default: fitted.",
    "significant": "Goal: share of significant pairs; default: .8.",
    "size_limit": "documents: never draw longer ones.",
    "sizes": "Sizes to show results for.",
    "slope": "balanced: how much more often to draw segments that look bad.",
    "spend": "What you can spend: '40 h', '2000 EUR', '5000 ratings' or judgments.",
    "stop": "documents, fixed-snippets: under, over or closest to the budget (closest).",
    "store": "A PostgreSQL database in place of a file in the folder.",
    "strata": "segments: stratify by this.",
    "system": "The system, if the XLIFF file names none.",
    "systems": "The systems to compare: names, or how many.",
    "tables": "Which tables: ratings, errors, judgments, edits, sample, scores, raters, forms,"
    " events.",
    "target": "What the intervals hold for: raters, texts or answers.",
    "terms": "Methods of finding terms; default: all.",
    "test": "sign: head to head (default for pairs); pooled: all judgments for every pair;"
    " bootstrap: as assay rank does (default for clusters and ranges).",
    "texts": "Write the kits' sentences to this table.",
    "ties": "Drop ties (default), count them as half a win each, or model them (Bradley-Terry).",
    "time": "How to average seconds per word: mean, log or winsorised.",
    "time_weight": "Weight of time in the placings.",
    "title": "The report's title.",
    "to": "Table or format of DST.",
    "top_up": "Enlarge this sample to the budget.",
    "trusted_proxy": "Proxy whose X-Forwarded-For header is trusted.",
    "type": "The type of the tables; default: tsv.",
    "version": "Show the version.",
    "weights": "MQM weights by severity: major=5,minor=1.",
    "words": "Minimum number of words in a piece.",
    "workers": "Processes to share the work; 0: one per core. Default: 1.",
    "yes": "Close without asking.",
}  # fmt: skip
METAVARS = {
    "A,B": "clean compare designs exclude exclude_raters formats lower_metrics metrics tables"
    " terms",
    "FILE": "figure figure_by_editor key kits pilot save texts",
    "DIR": "after before data figures parts",
    "A=B,...": "columns only weights",
    "PRICE": "pay rate",
    "A,B|N": "raters systems",
    "R": "alike",
    "N|P%|AMOUNT": "budget",
    "A,B,C": "documents",
    "N|A,B": "editors",
    "DE,EN": "languages",
    "K|N,N,...": "looks",
    "A,B+C": "methods",
    "LO,HI": "range",
    "ADDRESS": "scheduler",
    "A=N,...": "limits",
    "N,...": "sizes",
    "AMOUNT": "spend",
    "SAMPLE": "top_up",
    "SHARE": "overlap checks repeats",
}
"""Placeholders of values, and the options that have them."""
OWN = {
    "audit tables": (
        "The test set (if there is a scores table), then ratings or judgments, in one or more"
        " files.",
        "[SCORES] RATINGS|JUDGMENTS...",
    ),
    "campaign backup output": ("The file of the copy.", "FILE"),
    "campaign check plan": ("The plan (.toml), its folder, or a campaign.", "PLAN|DIR"),
    "campaign export output": (
        "The folder; default: one in the campaign's, with the format's name.",
        "DIR",
    ),
    "campaign import file": ("The answers, as the tool wrote them.", "FILE"),
    "campaign new output": ("The folder of the campaign; default: beside the plan.", "DIR"),
    "campaign new plan": ("The plan (.toml), or the table of the outputs.", "PLAN|SCORES"),
    "campaign serve folder": ("The folder of a campaign, or of several.", "DIR"),
    "check file": ("The file (or folder) to check.", "FILE"),
    "collect files": (
        "Sheets out: the scores table. Answers in: the key, then what raters sent back.",
        "SCORES | KEY FILES...",
    ),
    "collect output": ("The new folder of the sheets, or the table of ratings.", "PATH"),
    "corpus": ("Texts: .txt or .docx files, or tables with a text column.", "CORPUS..."),
    "demo output": ("Folder for the files.", "DIR"),
    "edits": ("The edits: tables, or a translation tool's files.", "[EDITS]..."),
    "evaluate sizes": (HELP["sizes"], "5%,10%"),
    "files": (
        "The test set, if there is one, then the ratings, in one or more files.",
        "[SCORES] RATINGS...",
    ),
    "folder": ("The folder of the campaign.", "DIR"),
    "goal": ("The planned goal, or budget: continue to the last task.", None),
    "judgments": ("The judgments so far; at the start, a header line alone.", "JUDGMENTS"),
    "kits build design": ("The table that assay kits design wrote.", "DESIGN"),
    "kits build output": ("The new folder of the kits.", "FOLDER"),
    "kits collect files": ("The files that editors sent back.", "FILES..."),
    "kits collect key": ("The key that build wrote.", "KEY"),
    "kits collect output": ("The table of edits to write.", "FILE"),
    "kits design output": ("The table of the design, for kits build.", "FILE"),
    "kits design systems": (HELP["systems"], "A,B,C"),
    "monitor scores": ("The test set, or judgments.", "SCORES|JUDGMENTS"),
    "more": ("More files, as for --from.", "[SOURCE...]"),
    "new folder": ("The folder of the project.", "DIR"),
    "new origin": (HELP["origin"], "SOURCE..."),
    "next-set systems": (HELP["systems"], "A,B"),
    "paper": ("The paper: koehn2012, korotaev2022, lo2023 or saldias2022.", "PAPER"),
    "plan comparison ratings": ("A pilot: its ratings.", "RATINGS"),
    "plan comparison scores": ("A pilot: its test set.", "SCORES"),
    "plan ratings ratings": ("A pilot: its ratings.", "RATINGS"),
    "plan ratings scores": ("A pilot: its test set.", "SCORES"),
    "rank files": ("Judgments (left, right, winner) or ratings, in one or more files.", "FILE..."),
    "rater": ("The rater.", "RATER"),
    "ratings": ("The ratings, in one or more files.", "RATINGS..."),
    "report output": ("The report to write: .html, .md or .tex.", "FILE"),
    "results": ("Saved results, or the folder of a campaign.", "RESULT..."),
    "sample output": ("File for the sample, a table.", "SAMPLE"),
    "scores": ("The test set: a scores table.", "SCORES"),
    "serve folder": ("The project, or a folder of campaigns.", "[DIR]"),
    "source": ("What to read.", "SRC"),
    "stability scores": ("Test sets: one file or several.", "SCORES..."),
    "target": ("What to write.", "DST"),
    "texts": ("A scores table with source and target.", "TEXTS"),
}
"""Help and placeholder of arguments, and of options that differ in one command."""
SPECIAL: dict[str, dict[str, Any]] = {
    "campaign import save": {"flags": ("--save",)},
    "careless": {"min": 0},
    "checks": {"parser": share},
    "leaving": {"min": 0},
    "look": {"min": 1},
    "matched": {"flags": ("--matched/--unmatched",)},
    "more": {"hidden": True},
    "origin": {"flags": ("--from",)},
    "output": {"flags": ("-o", "--output")},
    "overlap": {"parser": share},
    "port": {"min": 1, "max": 65535},
    "repeats": {"parser": share},
    "sides": {"min": 1, "max": 2},
}
"""Other settings of options: flags that differ from the name, limits, parsers."""

PANELS = {
    "Everyday": {
        "new": "project:new",
        "check": "tables:check",
        "plan": "planning:plan",
        "sample": "sampling:sample",
        "collect": "collecting:collect",
        "serve": "campaign:serve",
        "status": "collecting:status",
        "report": "report:report",
    },
    "Analysis": {
        "estimate": "estimation:estimate",
        "rank": "ranking:rank",
        "effort": "effort:effort",
        "raters": "estimation:raters",
        "audit": "audit:audit",
        "campaign": "campaign:campaign",
        "kits": "effort:kits",
        "monitor": "estimation:monitor",
        "next": "sampling:next_",
        "next-set": "ranking:next_set",
        "convert": "tables:convert",
    },
    "Research": {
        "demo": "demo:demo",
        "stability": "sampling:stability",
        "evaluate": "estimation:evaluate",
        "reproduce": "report:reproduce",
    },
}
"""The commands, or groups of commands, with their modules here and their names there.

First those of a project in the order of use, then those behind them, and those to try.
"""
COMMANDS = {name: place for listed in PANELS.values() for name, place in listed.items()}

RENAMED = {
    "rng": "seed",
    "before": "earlier",
    "kits": "kit_design",
    "test_set": "scores",
    "raters": "exclude_raters",
    "bin": "bin_size",
    "max": "max_snippet",
    "limit": "size_limit",
    "first": "longest_first",
    "size": "pieces",
    "methods": "terms",
}
"""Arguments of the library that have another name on the command line."""

WRITTEN = {
    "target", "--output", "--save", "--figure", "--figure-by-editor", "--figures", "--parts",
    "--texts", "--key",
}  # fmt: skip
"""The parameters that name files or folders to write; every other path is read."""

ENDINGS = {
    "save": (("a JSON file", "end its name in"), (".json",)),
    "figure": (("a kind of figure", "end it in"), (".svg", ".pdf", ".png")),
    "figure_by_editor": (("a kind of figure", "end it in"), (".svg", ".pdf", ".png")),
}
"""Files that need a certain ending, which is checked before any work is done."""

HELP_FLAGS = ["-h", "--help"]
CONTEXT: Any = {"help_option_names": HELP_FLAGS}
"""What every group of commands is made with."""

PIPELINE = """\
Assay: how good your translation systems are, and how sure you can be, from few judgments.

A project is a folder that remembers its files and settings:
  new       what there is to rate      assay new mine --from outputs.csv --protocol esa
                                       cd mine
  plan      what will it find, cost?   assay plan --budget "90 EUR" --pay "0.05 EUR per rating"
  sample    which segments to show?    assay sample --budget 20%
  collect   blind sheets for raters    assay collect --sheets xlsx --raters Ada,Ben
            what they sent back        assay collect answers/*.xlsx
  status    is it enough yet?          assay status
  report    the answer on a page       assay report --open

The analysis behind it works on files, too:
  estimate  scores with intervals      assay estimate scores.tsv ratings.tsv --sample sample.tsv
  rank      an order from judgments    assay rank judgments.tsv
  effort    what post-editing takes    assay effort edits.tsv

A simulated campaign to look at:       assay demo -o demo

Usage: assay COMMAND ...; assay --help lists all commands, assay COMMAND --help explains one."""

SHOWN = {
    "new": "origin protocol raters pay columns metrics better replace",
    "check": "kind format scores columns metrics range save json",
    "convert": "origin to columns sample lp system list_formats save",
    "sample": "budget design goal top_up seed output save json",
    "collect": "sheets raters sample overlap per_output range key output",
    "report": "output title parts open json",
    "estimate": "sample better method target by compare save json",
    "rank": "method ranges better columns format pairs save json",
    "effort": "before after human margin rate format save json",
    "raters": "sample assume better range columns exclude save json",
    "audit": "published sample assume target better pairs save json",
    "monitor": "sample goal half_width looks earlier better save json",
    "next": "sample method count budget better columns save json",
    "next-set": "systems scores goal per_set count seed save json",
    "stability": "metric budget designs held_out draws by figure save",
    "evaluate": "methods sizes draws half_width better workers save json",
    "plan campaign": "budget half_width decide pay scores systems save json",
    "plan ratings": "half_width population sd systems pay spend save json",
    "plan comparison": "gap population difference_sd pay spend save json",
    "plan judgments": "pilot systems sigma significant pay spend save json",
    "plan editors": "gap systems measure pilot segments power save json",
    "kits find": "words pieces count language texts figure save json",
    "kits design": "systems editors design documents seed output save json",
    "kits build": "output key formats human lp columns save json",
}
"""The options in a command's short help, at most eight; other commands show their first eight."""
MOST_SHOWN = 8
