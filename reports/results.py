"""Reads results folders. What is missing or damaged is listed in Results.absent; without metrics no folder is one."""

import csv
import gzip
import json
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path

PARTS = ["compute", "optimizer", "tp_exposed", "ep_exposed", "pp_exposed", "dp_exposed", "bubble", "straggler_wait",
         "data", "other"]
TIERS = ["nvlink", "pcie", "host", "aggregation", "core"]
STREAMS = {0: "compute", 1: "tensor", 2: "pipeline", 3: "data"}


@dataclass
class Span:
    """One bar of the timeline; times in microseconds."""
    rank: int
    stream: int
    name: str
    part: str
    phase: str
    start: float
    length: float


@dataclass
class Results:
    path: Path
    name: str
    metrics: dict = field(default_factory=dict)
    links: list = field(default_factory=list)  # dicts with link, from, to, tier, rate_bps, bytes, utilisation
    placement: list = field(default_factory=list)
    flows: list = field(default_factory=list)   # of `rehearse net`: dicts with slowdown, end
    series: list = field(default_factory=list)  # ... with time_us, queue_longest_bytes
    spans: list = field(default_factory=list)
    rank_names: dict = field(default_factory=dict)  # rank -> text, where the trace names it
    summary: str = ""
    absent: list = field(default_factory=list)  # sentences


@dataclass
class ScalingPoint:
    system: str
    gpus: int
    kind: str  # "predicted", "fitted" or "published"
    step_time_s: float = None
    mfu: float = None


def middle(value):
    """A figure as one number: the median where a run over several seeds wrote {median, min, max}; None if not one."""
    if isinstance(value, dict):
        value = value.get("median")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value


def spread(value):
    """(min, max) of a figure over seeds, or None for a single run."""
    if not isinstance(value, dict):
        return None
    low, high = middle(value.get("min")), middle(value.get("max"))
    return None if low is None or high is None else (low, high)


def breakdown(results):
    """[(part, seconds)] in the order in which a rank's time is attributed; unknown parts come last."""
    parts = results.metrics.get("breakdown_s")
    if not isinstance(parts, dict):
        return []
    known = [part for part in PARTS if part in parts] + sorted(set(parts) - set(PARTS))
    return [(part, middle(parts[part])) for part in known if middle(parts[part]) is not None]


def read_results(path):
    path = Path(path)
    results = Results(path, path.resolve().name)
    _read(results, "metrics.json", _read_metrics)
    if "sweep" not in results.metrics:
        _read(results, "links.csv", _read_links)
    if "net" in results.metrics:
        _read(results, "flows.csv", _read_flows)
        if section(results.metrics, "run").get("fidelity") == "packet":
            _read(results, "series.csv", _read_series)
    elif "sweep" not in results.metrics:
        _read(results, "placement.csv", _read_placement)
        _read(results, "timeline.json.gz", _read_timeline)
    _read(results, "summary.txt", _read_summary)
    return results


def _read(results, name, reader):
    file = results.path / name
    if not file.is_file():
        results.absent.append(f"{results.name}: {name} is missing")
        return
    try:
        reader(results, file)
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zlib.error, csv.Error) as fault:
        results.absent.append(f"{results.name}: {name} cannot be read ({type(fault).__name__}: {fault})")


def _read_metrics(results, file):
    metrics = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(metrics, dict):
        raise ValueError("an object was expected")
    version = metrics.get("schema_version")
    if version is None:
        raise ValueError("it has no schema_version")
    if version != 1:
        results.absent.append(f"{results.name}: metrics.json has schema_version {version}; 1 is what this report knows")
    results.metrics = metrics
    scenario = section(metrics, "run").get("scenario")
    if isinstance(scenario, str) and scenario:
        results.name = scenario


def section(metrics, key):
    """A sub-object of metrics.json; empty when it is missing or something else."""
    value = metrics.get(key)
    return value if isinstance(value, dict) else {}


def _read_links(results, file):
    with open(file, newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            row["utilisation"] = float(row["utilisation"])
            row["bytes"] = float(row["bytes"])
            row["rate_bps"] = float(row["rate_bps"])
            results.links.append(row)


def _read_flows(results, file):
    with open(file, newline="", encoding="utf-8") as rows:
        results.flows = [row | {"slowdown": float(row["slowdown"] or "nan")}  # a flow that failed has none
                         for row in csv.DictReader(rows)]


def _read_series(results, file):
    with open(file, newline="", encoding="utf-8") as rows:
        results.series = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(rows)]


def _read_placement(results, file):
    with open(file, newline="", encoding="utf-8") as rows:
        results.placement = list(csv.DictReader(rows))


def _read_summary(results, file):
    results.summary = file.read_text(encoding="utf-8")


def _phase(event):
    phase = event.get("args", {}).get("phase", "")
    if phase:
        return str(phase)
    name = str(event.get("name", "")).lower()
    for word in ("backward", "forward", "optimizer"):
        if word in name:
            return word
    return ""


def _read_timeline(results, file):
    with gzip.open(file, "rt", encoding="utf-8") as text:
        trace = json.load(text)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    for event in events:
        if event.get("ph") == "M" and event.get("name") == "process_name":
            results.rank_names[int(event["pid"])] = str(event["args"]["name"])
        if event.get("ph") != "X":
            continue
        results.spans.append(Span(int(event["pid"]), int(event["tid"]), str(event.get("name", "")),
                                  str(event.get("cat", "other")), _phase(event), float(event["ts"]),
                                  float(event["dur"])))
    results.spans.sort(key=lambda span: (span.rank, span.stream, span.start, span.length, span.name))


def system_of(scenario):
    """The scenario's name without its GPU count: "MegaScale 175B on 12,288 GPUs" -> "MegaScale 175B"."""
    bare = re.sub(r"(\s+on)?\s+[\d,]+\s*(x\s*)?GPUs?\b", "", scenario)
    return bare.strip(" ,-") or scenario


def scaling_of_runs(all_results):
    points = []
    for results in all_results:
        gpus = middle(section(results.metrics, "run").get("ranks"))
        step = middle(results.metrics.get("step_time_s"))
        mfu = middle(results.metrics.get("mfu"))
        if gpus and (step is not None or mfu is not None):
            points.append(ScalingPoint(system_of(results.name), int(gpus), "predicted", step, mfu))
    return points


def scaling_of_validation(path):
    """Points of a `rehearse validate` JSON: {"rows": [{system, gpus, quantity, published, predicted, status}]}.

    quantity is step_time_s or mfu (others are skipped); status fitted, or anything else for a prediction. published is
    null where no figure is held. Returns (points, absent).
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = document["rows"] if isinstance(document, dict) else document
        points = [point for row in rows for point in _points_of_row(row)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        return [], [f"{path}: not a validation of rehearse validate --json ({type(fault).__name__}: {fault})"]
    return points, [] if points else [f"{path}: not a validation: no row gives step_time_s or mfu"]


def _points_of_row(row):
    quantity = row.get("quantity")
    if quantity not in ("step_time_s", "mfu") or not middle(row.get("gpus")):
        return []
    label = system_of(str(row.get("system", "")))
    status = "fitted" if row.get("status") == "fitted" else "predicted"
    points = []
    for kind, key in (("published", "published"), (status, "predicted")):
        if middle(row.get(key)) is not None:
            points.append(ScalingPoint(label, int(row["gpus"]), kind, **{quantity: middle(row[key])}))
    return points


def scaling_curves(points):
    """{system: {gpus: {(quantity, kind): value}}}, sorted; only of systems that two sizes are known of: a curve."""
    curves = {}
    for point in sorted(points, key=lambda point: (point.system, point.gpus)):
        size = curves.setdefault(point.system, {}).setdefault(point.gpus, {})
        for quantity in ("step_time_s", "mfu"):
            if getattr(point, quantity) is not None:
                size[quantity, point.kind] = getattr(point, quantity)
    return {system: sizes for system, sizes in curves.items() if len(sizes) > 1}
