"""Global states and settings as statements: how they are set, and whether they have changed."""

from __future__ import annotations

from conformance import operations as op
from conformance.report.reproduction.draft import Draft
from conformance.trace import Event


def seeding(draft: Draft) -> list[str]:
    """The global states as the run set them, those that the candidate might draw from; and torch's
    threads, where their number is changed later."""
    case = draft.case
    first = case.rank_seed(0)
    unlike = draft.several and not case.alike
    seed = f"{first} + 7919 * rank" if unlike else f"{first}"
    draft.need("torch")
    threads = ["torch.set_num_threads(1)"] * draft.has(op.Surround)
    if draft.candidate.source.text == "torch.utils.data":
        return [*threads, f"torch.manual_seed({seed})"]
    draft.need("random")
    return [
        *threads,
        f"torch.manual_seed({seed}); random.seed({seed} + 2)",
        *_if_numpy(draft, f"random.seed({seed} + 1)"),
    ]


def _if_numpy(draft: Draft, *words: str) -> list[str]:
    """What is done with numpy where the candidate, or torch, has brought it: torch needs it not."""
    draft.need("sys")
    return ["if numpy := sys.modules.get('numpy'):", *(f"    numpy.{one}" for one in words)]


def globals_(draft: Draft, step: op.Globals, event: Event) -> list[str]:
    """Which global states, and the caller's generator, have changed since they were looked at."""
    draft.need("torch", "random", "sys", "decimal", "gc")
    own = draft.kept["generator"][:1]
    draft.define("states", STATES)
    words = f"states({', '.join(own)})"
    return [f"before, after = after, {words}", f"now.append({CHANGED})"]


CHANGED = "sorted(name for name in after if after[name] != before.get(name))"


STATES = """\
def states(own=None):
    found = {"torch": torch.get_rng_state().tolist(), "random": random.getstate()}
    found["settings"] = torch.get_default_dtype(), torch.get_num_threads(), torch.is_grad_enabled()
    found["settings"] += (decimal.getcontext().prec, gc.isenabled())
    if numpy := sys.modules.get("numpy"):
        found["numpy"] = repr(numpy.random.get_state())
        found["settings"] += (numpy.geterr(),)
    return found | ({"generator": own.get_state().tolist()} if own else {})""".splitlines()


def reseed(draft: Draft, step: op.Reseed, event: Event) -> list[str]:
    if step.which == "generator":
        return [f"{name}.manual_seed({step.seed})" for name in draft.kept["generator"]]
    seeds = {
        "torch": f"torch.manual_seed({step.seed})",
        "random": f"random.seed({step.seed + 2}); random.gauss(0, 1)",
    }
    chosen = [name for name in seeds if step.which in ("all", name)]
    draft.need(*chosen)
    lines = ["; ".join(seeds[name] for name in chosen)] if chosen else []
    drawn = step.which in ("all", "numpy")
    again = f"random.seed({(step.seed + 1) % 2**32})", "random.standard_normal()"
    return lines + _if_numpy(draft, *again) * drawn


def surround(draft: Draft, step: op.Surround, event: Event) -> list[str]:
    """Another default dtype and number of threads."""
    draft.need("torch")
    dtype = f"torch.set_default_dtype(torch.{step.dtype})"
    lines = [f"{dtype}; torch.set_num_threads({step.threads})"]
    if step.digits != op.Surround().digits:
        draft.need("decimal")
        lines.append(f"decimal.getcontext().prec = {step.digits}")
    if step.spare:
        draft.need("gc", "sys")
        lines.append("gc.disable(); torch.set_grad_enabled(False); sys.setswitchinterval(0.002)")
    if step.environment:
        draft.need("os")
        given = ", ".join(f"{name}={value!r}" for name, value in step.environment.items())
        lines.append(f"os.environ.update({given})")
    if step.worker:
        draft.need("torch.utils.data")
        told = "id={}, num_workers={}, seed=0, dataset=None".format(*step.worker)
        lines.append("worker = torch.utils.data._utils.worker")
        lines.append(f"worker._worker_info = worker.WorkerInfo({told})")
    return lines
