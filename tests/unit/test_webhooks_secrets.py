"""Secrets as they are kept, and the keys under which they are."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr

from assayer.errors import ConfigurationError
from cluster.settings import Settings, WebhookSettings
from cluster.settings_loading import load_settings
from cluster.webhooks import load_or_create_key, load_secret_cipher
from orchestrator.webhooks.secrets import SecretCipher, generate_secret

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))
SECRET = generate_secret()


def test_sealed_secret_opens_under_its_key_alone() -> None:
    sealed = SecretCipher([OLD]).encrypt(SECRET)
    assert SECRET not in sealed
    assert SecretCipher([NEW, OLD]).decrypt(sealed) == SECRET
    for others in ([NEW], []):
        with pytest.raises(ConfigurationError, match="does not have"):
            SecretCipher(others).decrypt(sealed)


def test_secret_is_brought_under_the_first_key_once() -> None:
    both = SecretCipher([NEW, OLD])
    renewed = both.re_encrypted(SecretCipher([OLD]).encrypt(SECRET))
    assert renewed is not None
    assert SecretCipher([NEW]).decrypt(renewed) == SECRET
    assert both.re_encrypted(renewed) is None


@pytest.mark.parametrize("wrong", ["hunter2", "AAAA", "é" * 44, OLD[:-4]], ids=["words", "short", "not ascii", "cut"])
def test_key_that_is_none_is_refused_without_being_repeated(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAYER_WEBHOOKS__KEYS", f"{OLD},{wrong}")
    with pytest.raises(ConfigurationError, match=r"ASSAYER_WEBHOOKS__KEYS: key number 2 is not 32 bytes") as caught:
        load_settings()
    assert wrong not in str(caught.value)
    assert OLD not in str(caught.value)


def test_embedded_database_has_a_key_of_its_own_that_stays_and_that_its_owner_alone_reads(tmp_path: Path) -> None:
    sealed = load_secret_cipher(Settings(home=tmp_path)).encrypt(SECRET)
    assert load_secret_cipher(Settings(home=tmp_path)).decrypt(sealed) == SECRET
    assert [(file.name, file.stat().st_mode & 0o777) for file in tmp_path.iterdir()] == [("webhooks.key", 0o600)]


def test_file_that_holds_no_key_is_named(tmp_path: Path) -> None:
    (tmp_path / "webhooks.key").write_text("")
    with pytest.raises(ConfigurationError, match=r"webhooks\.key holds no key"):
        load_secret_cipher(Settings(home=tmp_path))


def test_keys_that_are_set_go_before_the_file_and_none_is_made(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, webhooks=WebhookSettings(keys=(SecretStr(NEW),)))
    assert SecretCipher([NEW]).decrypt(load_secret_cipher(settings).encrypt(SECRET)) == SECRET
    assert list(tmp_path.iterdir()) == []


def test_database_of_ones_own_has_no_key_unless_one_is_set(tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path, "database": {"url": "postgresql://there/db"}})
    with pytest.raises(ConfigurationError, match="ASSAYER_WEBHOOKS__KEYS"):
        load_secret_cipher(settings).encrypt(SECRET)
    assert list(tmp_path.iterdir()) == []


def test_processes_that_start_at_once_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        kept = set(
            pool.map(lambda number: load_or_create_key(tmp_path / "new" / "key", str(number).encode()), range(32))
        )
    assert len(kept) == 1
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["key"]


def test_key_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read or written"):
        load_or_create_key(tmp_path, b"")
