"""From a data set's release to a corpus, and from its diff to the corpus's next version."""

from pathlib import Path

import pyarrow.parquet as pq

from assayer.models import OPEN, PaperId
from cluster.corpora.ingest import ingest_s2_release
from cluster.settings import Settings
from index import Corpus, build_corpus, read_delta, update_corpus
from simulator.datasets.editions import Edition
from simulator.datasets.process import SimulatedDatasets
from tests.contract.ingested import FIRST, SECOND, build_settings, ignore
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.embedding.settings import EmbedderSettings

DATASETS = ("papers", "abstracts", "citations", "s2orc", "embeddings-specter_v2")
EMBEDDER = HashingEmbedder(dimensions=16)


def _build_corpus_settings(services: SimulatedDatasets) -> Settings:
    """The release's vectors pass for those of the corpus's model."""
    ingest_settings = build_settings(services)
    return ingest_settings.model_copy(
        update={"ingest": ingest_settings.ingest.model_copy(update={"vector_model": EMBEDDER.name})}
    )


async def _read_abstracts(directory: Path) -> dict[PaperId, str]:
    """Return the abstract of every paper of both editions that is in the corpus."""
    names = {
        f"CorpusId:{edition_paper.entry.corpus_id}"
        for item in (FIRST, SECOND)
        for edition_paper in item.papers.values()
    }
    papers_by_id = await Corpus.open(directory, EMBEDDER).papers([PaperId(name) for name in sorted(names)], OPEN)
    return {paper_id: paper.abstract for paper_id, paper in papers_by_id.items()}


def _must(edition: Edition) -> dict[PaperId, str]:
    return {
        PaperId(f"CorpusId:{edition_paper.entry.corpus_id}"): edition_paper.abstract
        for edition_paper in edition.papers.values()
    }


async def test_a_release_becomes_a_corpus_and_its_diff_the_next_version(
    services: SimulatedDatasets, tmp_path: Path
) -> None:
    folder, directory = tmp_path / "ingest", tmp_path / "corpus"
    await ingest_s2_release(str(folder), "latest", DATASETS, _build_corpus_settings(services), ignore)
    corpus = await build_corpus([folder / "records"], directory, EMBEDDER)
    assert await _read_abstracts(directory) == _must(FIRST)
    assert corpus.manifest.sum_counts("full_texts") > 0
    assert corpus.manifest.sum_counts("with_references") > 0

    services.change_edition(2)
    await ingest_s2_release(str(folder), "latest", DATASETS, _build_corpus_settings(services), ignore)
    delta = read_delta([folder / "upserts"], folder / "deletions.txt", EMBEDDER)
    updated = await update_corpus(delta, directory, EMBEDDER)
    assert await _read_abstracts(directory) == _must(SECOND)
    changes = updated.manifest.changes
    assert changes is not None
    assert (changes.new, changes.removed) == (
        len(_must(SECOND).keys() - _must(FIRST).keys()),
        len(_must(FIRST).keys() - _must(SECOND).keys()),
    )


async def test_published_vectors_belong_to_a_downloaded_specter2(services: SimulatedDatasets, tmp_path: Path) -> None:
    """Otherwise a corpus whose model is that folder refuses the records."""
    ingest_settings = build_settings(services).model_copy(
        update={"embedder": EmbedderSettings(model="/models/specter2")}
    )
    await ingest_s2_release(str(tmp_path / "ingest"), "latest", DATASETS, ingest_settings, ignore)
    models = pq.read_table(tmp_path / "ingest" / "records", columns=["vector_model"])["vector_model"]
    assert set(models.drop_null().to_pylist()) == {"/models/specter2"}
