"""Every option of the command line, by the name of its parameter: one meaning, one help text.

A command is a function whose options stand behind ``*`` in its signature, with type and default;
what is said of them, and of its arguments, is said here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

from typer import BadParameter


def share(said: str | float) -> float:
    """``10%`` or ``0.1``; a project has it as a number."""
    try:
        text = str(said)
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise BadParameter("give a share such as 10% or 0.1") from None


Text: TypeAlias = str | None
File: TypeAlias = Path | None
Number: TypeAlias = float | None
Count: TypeAlias = int | None
Better: TypeAlias = Literal["higher", "lower"]

HELP = {
    "after": "The same files after editing.",
    "alike": "Documents are alike if their effort is within 1/R and R.",
    "allocation": "segments: how many from each stratum.",
    "allow_unreachable": "Accept a design that can never draw some segments.",
    "assume": "Without a sample, how segments were chosen: random, documents.",
    "assume_alike": "Assume that the documents are alike (identical kits).",
    "backend": "How the work runs; default: by --workers and --scheduler.",
    "before": "Folder of a translation tool's files before editing.",
    "better": "Which ratings are better (MQM: lower).",
    "bin_size": "segments: size of metric strata (80).",
    "blanks": "Unranked outputs in WMT rankings: drop, or count as best.",
    "borrow": "Learn from these ratings of the other systems how hard segments are.",
    "budget": "What may be rated or spent: 142 segments, 20%, '15000 ratings', '300 EUR' or '20"
    " hours'.",
    "by": "Results, or campaigns, by group: a column such as domain or lp; estimate: also"
    " document, length, category.",
    "calibrate": "Shorten ranges, checked by simulating campaigns of this size.",
    "candidates": "Keep the best of so many samples, by the metric.",
    "careless": "How many of them answer at random.",
    "cell": "Variance of editor x document.",
    "checks": "Share of outputs shown again as a spoiled copy. Default: 0.",
    "clean": "Remove: citations, notes, addresses, headings.",
    "cluster_rule": "From ratings: a cluster ends where neighbours differ (default), or where all"
    " above differ from all below, as WMT has it.",
    "clusters": "Goal: mean number of clusters.",
    "columns": "Your column names: seg=seg_id,score=mqm.",
    "compare": "Compare two systems: difference, p, power.",
    "correlation": "Correlation of ratings and metrics.",
    "count": "How many to choose.",
    "data": "Folder with the paper's data.",
    "debug": "Where a command fails, show where in the code.",
    "decide": "The true difference of two systems to be found.",
    "density": "Largest ratio of the terms' occurrences, or none.",
    "design": "The design, by name (listed above).",
    "design_effect": "Variance relative to that of a simple random sample.",
    "designs": "Designs to compare.",
    "difference_sd": "Standard deviation of the paired differences.",
    "documents": "The documents: as many as systems.",
    "draws": "Samples or campaigns to simulate.",
    "each_pair": "From judgments: the level is for each pair, not for all together.",
    "earlier": "The result saved last time: its looks are kept.",
    "editor": "The editor, where an XLIFF file does not say.",
    "editors": "How many editors, or their names.",
    "empty": "Empty translations: refuse, unchanged, or keep (all was deleted).",
    "eps": "Radius of dbscan; default: the knee.",
    "errors": "The marked errors, for --by category.",
    "exclude": "Systems to leave out, such as a reference.",
    "exclude_raters": "Raters to leave out; the effect is shown.",
    "family": "Decide so that all verdicts together hold at the level (Holm).",
    "features": "How many metrics the correlation is with; default: 1.",
    "figure": "Draw it to this .svg, .pdf or .png file.",
    "figure_by_editor": "Draw every editor's work to this file.",
    "figures": "Folder for the figures (SVG and PNG).",
    "format": "Another tool's format, such as google-mqm or sdlxliff.",
    "formats": "tsv, xlsx, xliff, or several.",
    "gap": "The difference to be found, in the unit of the scores.",
    "goal": "What to aim for.",
    "guarantee": "Valid however often you look; needs --range.",
    "half_width": "The wanted half-width of the intervals.",
    "held_out": "A second metric to judge the samples by.",
    "history": "Other systems' ratings of these segments, to learn from; estimate: also an"
    " earlier campaign with the same metrics.",
    "holm": "Correct the tests for the number of pairs.",
    "host": "The address to listen at.",
    "human": "Which system is the human translation.",
    "human_scores": "Which human scores of an mt-metrics-eval folder.",
    "importance": "Numeric column: draw in proportion to it.",
    "instructions": "Your own words to the raters: a text file.",
    "interval": "auto, t, skew-t, betting, hoeffding or bernstein.",
    "json": "Print one JSON object instead of tables.",
    "key": "Where the key goes; default: FOLDER-key.tsv.",
    "kind": "scores, ratings, errors, judgments, edits or sample; default: a guess.",
    "kit_design": "Who edits what: saved by `assay kits design`.",
    "kits": "Result of kits find: do harder documents take more?",
    "language": "en: five features; any other: three of them.",
    "languages": "Source and target language.",
    "leaving": "How many of them leave half-way.",
    "length": "fixed-snippets: segments per snippet (10).",
    "length_tolerance": "Words within ± this share; none: no limit.",
    "level": "Confidence level.",
    "limits": "Read larger files than usual: columns=20000,rows=1e9.",
    "list_formats": "List other tools' formats.",
    "longest_first": "fixed-snippets: longest documents first.",
    "look": "Only what this planned look saw.",
    "looks": "Planned looks: how many, or at which sizes.",
    "lower_metrics": "Metrics where less is better.",
    "lp": "Language pair, where a format has several or none.",
    "margin": "Parity: at most this share more effort, such as 0.1.",
    "marks": "Errors that raters begin with: a table.",
    "matched": "The same segments for all systems, or not.",
    "max_snippet": "snippets, rounds: the longest (10).",
    "measure": "distance, time or changed.",
    "measures": "time, distance, changed, hter; default: not hter.",
    "method": "The method, by name (listed above).",
    "methods": "Designs and estimators.",
    "metric": "The metric that ranks the systems.",
    "metrics": "Metric columns; default: all numeric ones.",
    "mode": "closest: the most alike; dbscan: the paper's clusters.",
    "only": "Read only these rows: lp=en-de,domain=news.",
    "open": "Open the report in the browser.",
    "origin": "Your material: tables, a folder of texts, a WMT folder; convert: the table or"
    " format of SRC; campaign new: the tool that the file is for.",
    "outputs": "Systems side by side, 1 to 8.",
    "overlap": "Share of tasks with one more rater. Default: 10%.",
    "pairs": "Print the table of pairs, too.",
    "parts": "Folder for every table (CSV, Markdown, LaTeX) and figure (SVG, PDF).",
    "pattern": "Path of an edited file: {system}/{editor}/{doc}.",
    "pay": "What one answer costs: '0.12 EUR per rating', '18 EUR per hour, 40 s per rating'.",
    "per_output": "Raters of every output; default: 1.",
    "per_set": "Systems shown at once; default: as many as so far.",
    "pieces": "Pieces in a kit.",
    "pilot": "Answers collected so far.",
    "place": "The documents' order is rotated and allowed for.",
    "population": "Segments of the test set; default: the pilot's.",
    "port": "The port to listen at.",
    "power": "Probability of finding the gap.",
    "practice": "WMT practice ranks by the mean (default) or z scores.",
    "profile": "How words are counted.",
    "protocol": "How outputs are judged.",
    "public_url": "The address that links begin with, behind a proxy.",
    "published": "What was claimed: a table of system and cluster or rank, or better and worse.",
    "range": "The rating scale; scores outside are refused.",
    "range_kind": "Which bootstrap range holds the level (shortest).",
    "range_size": "Goal: mean size of rank ranges.",
    "ranges": "Rank ranges from resampling (default) or from tests.",
    "rank_sum": "From ratings: test single outputs, as WMT does, not documents.",
    "rate": "What an editor's hour costs: 40 EUR.",
    "raters": "Who rates: names, or how many.",
    "ratings": "Ratings of the same systems: do they agree?",
    "reason": "Why; kept in the list of events.",
    "remove_severity": "Subtract each rater's severity first.",
    "repeats": "Share of tasks that a rater has twice. Default: 0.",
    "replace": "Replace the project that is there.",
    "resample": "The unit whose judgments are correlated; auto: segment, else set, else pair.",
    "resamples": "How many to draw (1000).",
    "residual": "Variance of segments within it.",
    "rounding": "segments: random, or largest remainder.",
    "runs": "Runs behind best / median / worst.",
    "sample": "The sample: which segments, and how they were drawn.",
    "save": "Save the result (.json) for `assay report`.",
    "scheduler": "A dask cluster: tcp://HOST:8786.",
    "scores": "The test set that the file is about.",
    "sd": "Standard deviation of one system's ratings.",
    "seconds_per_word": "For a budget in minutes, without a cost column.",
    "seed": "Random seed; the output repeats it.",
    "segments": "Segments of a document.",
    "shared": "Largest share of terms in common, or none.",
    "sheets": "Write a blind sheet per rater, or a task list of a tool.",
    "sides": "Tests two-sided (2) or one-sided (1).",
    "sigma": "Noise on a scale of 10; WMT12: 7 to 12. Default: fitted.",
    "significant": "Goal: share of significant pairs; default: .8.",
    "size_limit": "documents: never draw longer ones.",
    "sizes": "Sizes to show results for.",
    "slope": "balanced: how much more often bad-looking segments are drawn.",
    "spend": "What there is to spend: '40 h', '2000 EUR', '5000 ratings' or judgments.",
    "stop": "documents, fixed-snippets: where to stop (closest).",
    "store": "A PostgreSQL database in place of a file in the folder.",
    "strata": "segments: stratify by this.",
    "system": "The system, where an XLIFF file does not say.",
    "systems": "The systems compared: their names, or how many.",
    "tables": "Of: ratings, errors, judgments, edits, sample, scores, raters, forms, events.",
    "target": "What intervals are for: raters, texts or answers.",
    "terms": "Ways to find terms; default: all.",
    "test": "Head to head (default for pairs), all judgments for every pair, or, for clusters and"
    " ranges, the default of assay rank.",
    "texts": "Write the kits' sentences to this table.",
    "ties": "Ties are dropped (default), half a win for each, or modelled (Bradley-Terry).",
    "time": "mean, log or winsorised seconds per word.",
    "time_weight": "Weight of time in the placings.",
    "title": "The report's title.",
    "to": "Table or format of DST.",
    "top_up": "Enlarge this sample to the budget.",
    "trusted_proxy": "The proxy whose X-Forwarded-For is believed.",
    "type": "The type of the tables; default: tsv.",
    "version": "Show the version.",
    "weights": "MQM weights by severity: major=5,minor=1.",
    "words": "Words in a piece, at least.",
    "workers": "Processes to share the work; 0: one per core. Default: 1.",
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
"""What stands for the value of an option, and the options that it stands in."""
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
    "edits": ("What editors did: tables, or files of a translation tool.", "[EDITS]..."),
    "evaluate sizes": (HELP["sizes"], "5%,10%"),
    "files": (
        "The test set, if there is one, and what the raters answered, in one or more files.",
        "[SCORES] RATINGS...",
    ),
    "folder": ("The folder of the campaign.", "DIR"),
    "goal": ("The planned goal, or budget: go on to the last task.", None),
    "judgments": ("Judgments so far; at first a header line.", "JUDGMENTS"),
    "kits build design": ("The table that assay kits design wrote.", "DESIGN"),
    "kits build output": ("The new folder of the kits.", "FOLDER"),
    "kits collect files": ("What editors sent back.", "FILES..."),
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
    "plan comparison ratings": ("A pilot: what raters answered.", "RATINGS"),
    "plan comparison scores": ("A pilot: its test set.", "SCORES"),
    "plan ratings ratings": ("A pilot: what raters answered.", "RATINGS"),
    "plan ratings scores": ("A pilot: its test set.", "SCORES"),
    "rank files": ("Judgments (left, right, winner) or ratings, in one or more files.", "FILE..."),
    "rater": ("The rater.", "RATER"),
    "ratings": ("What the raters answered, in one or more files.", "RATINGS..."),
    "report output": ("The report to write: .html, .md or .tex.", "FILE"),
    "results": ("Saved results, or the folder of a campaign.", "RESULT..."),
    "sample output": ("Write the sample, a table.", "SAMPLE"),
    "scores": ("The test set: a scores table.", "SCORES"),
    "serve folder": ("The project, or a folder of campaigns.", "[DIR]"),
    "source": ("What to read.", "SRC"),
    "stability scores": ("Test sets: one file or several.", "SCORES..."),
    "target": ("What to write.", "DST"),
    "texts": ("A scores table with source and target.", "TEXTS"),
}
"""What arguments are, and options that a command has in its own way, each with its placeholder."""
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
"""What else is to be said of an option, where its flag is not its name or not all values fit."""

COMMANDS = {
    "new": "new:new",
    "demo": "demo:demo",
    "check": "tables:check",
    "convert": "tables:convert",
    "plan": "planning:plan",
    "stability": "sampling:stability",
    "sample": "sampling:sample",
    "collect": "collecting:collect",
    "serve": "campaign:serve",
    "status": "status:status",
    "campaign": "steering:campaign",
    "next": "sampling:next_",
    "monitor": "estimation:monitor",
    "next-set": "ranking:next_set",
    "estimate": "estimation:estimate",
    "raters": "estimation:raters",
    "evaluate": "estimation:evaluate",
    "rank": "ranking:rank",
    "kits": "kits:kits",
    "effort": "effort:effort",
    "audit": "audit:audit",
    "report": "report:report",
    "reproduce": "reproduce:reproduce",
}
"""Every command or group of commands: its module here, and its name there."""

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
"""Arguments of the library whose parameter here has another name."""

PANELS = {
    "Everyday": ("new", "check", "plan", "sample", "collect", "serve", "status", "report"),
    "Analysis": (
        "estimate", "rank", "effort", "raters", "audit", "campaign", "kits", "monitor", "next",
        "next-set", "convert",
    ),
    "Research": ("demo", "stability", "evaluate", "reproduce"),
}  # fmt: skip
"""The commands: those of a project in the order of use, those behind them, and those to try."""

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
"""The files whose names must say what they hold, which is refused before any work is done."""

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
  status    is it enough by now?       assay status
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
"""The options in the short help of a command, at most eight; others show theirs from the first."""
MOST_SHOWN = 8
