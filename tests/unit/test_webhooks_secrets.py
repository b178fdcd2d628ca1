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


def test_encrypted_secret_is_decrypted_only_with_its_key() -> None:
    sealed = SecretCipher([OLD]).encrypt(SECRET)
    assert SECRET not in sealed
    assert SecretCipher([NEW, OLD]).decrypt(sealed) == SECRET
    for other_keys in ([NEW], []):
        with pytest.raises(ConfigurationError, match="does not have"):
            SecretCipher(other_keys).decrypt(sealed)


def test_secret_is_re_encrypted_under_first_key_only_once() -> None:
    cipher_of_both = SecretCipher([NEW, OLD])
    renewed = cipher_of_both.re_encrypt(SecretCipher([OLD]).encrypt(SECRET))
    assert renewed is not None
    assert SecretCipher([NEW]).decrypt(renewed) == SECRET
    assert cipher_of_both.re_encrypt(renewed) is None


@pytest.mark.parametrize("wrong", ["hunter2", "AAAA", "é" * 44, OLD[:-4]], ids=["words", "short", "not ascii", "cut"])
def test_invalid_key_is_rejected_without_revealing_it(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAYER_WEBHOOKS__KEYS", f"{OLD},{wrong}")
    with pytest.raises(ConfigurationError, match=r"ASSAYER_WEBHOOKS__KEYS: key number 2 is not 32 bytes") as caught:
        load_settings()
    assert wrong not in str(caught.value)
    assert OLD not in str(caught.value)


def test_embedded_database_creates_persistent_key_file_readable_only_by_owner(tmp_path: Path) -> None:
    sealed = load_secret_cipher(Settings(home=tmp_path)).encrypt(SECRET)
    assert load_secret_cipher(Settings(home=tmp_path)).decrypt(sealed) == SECRET
    assert [(file.name, file.stat().st_mode & 0o777) for file in tmp_path.iterdir()] == [("webhooks.key", 0o600)]


def test_empty_key_file_is_reported_by_name(tmp_path: Path) -> None:
    (tmp_path / "webhooks.key").write_text("")
    with pytest.raises(ConfigurationError, match=r"webhooks\.key does not contain a valid key"):
        load_secret_cipher(Settings(home=tmp_path))


def test_configured_keys_override_key_file_and_create_no_file(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, webhooks=WebhookSettings(keys=(SecretStr(NEW),)))
    assert SecretCipher([NEW]).decrypt(load_secret_cipher(settings).encrypt(SECRET)) == SECRET
    assert list(tmp_path.iterdir()) == []


def test_external_database_requires_configured_key(tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path, "database": {"url": "postgresql://there/db"}})
    with pytest.raises(ConfigurationError, match="ASSAYER_WEBHOOKS__KEYS"):
        load_secret_cipher(settings).encrypt(SECRET)
    assert list(tmp_path.iterdir()) == []


def test_concurrent_starts_agree_on_a_single_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        stored_keys = set(
            pool.map(lambda number: load_or_create_key(tmp_path / "new" / "key", str(number).encode()), range(32))
        )
    assert len(stored_keys) == 1
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["key"]


def test_unreadable_key_path_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read or written"):
        load_or_create_key(tmp_path, b"")
