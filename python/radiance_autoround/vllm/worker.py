"""Methods for vLLM's workers, given as --worker-extension-cls radiance_autoround.vllm.worker.RadianceWorker."""

from __future__ import annotations

from typing import Any

import radiance_autoround


class RadianceWorker:
    """What the tests ask a worker, through collective_rpc: which layers it multiplied, and how often."""

    def radiance_call_counts(self) -> list[dict[str, Any]]:
        return [{"name": count.name, "n": count.n, "k": count.k, "target": count.target, "calls": count.calls,
                 "rows": count.rows} for count in radiance_autoround.call_counts()]
