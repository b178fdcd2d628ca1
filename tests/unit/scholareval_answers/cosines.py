"""Cosines from which the scripted answers take two texts for near."""

READ_FROM_COSINE = {"method": 0.50, "idea": 0.45}
NEAR_COSINE = 0.55
SAME_COSINE = 0.72
QUOTE_WORDS = 40


def overlap_score(cosine: float) -> float:
    return round(10 * min(1.0, max(0.0, (cosine - 0.35) / 0.5)), 1)
