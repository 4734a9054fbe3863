"""Images as users keep them: one PNG file each, in one folder per class."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from callbacks.live.progress import progress
from helpers.errors import DataError


def write_class_folders(name: str, classes: Sequence[str], **parts: tuple) -> Path:
    """Write images as ``train/0/00007.png``, unless they are there already.

    Parameters
    ----------
    name : str
        Name of the folder; a few letters of the content's hash are added.
    classes : sequence of str
        The folders in each part, also for classes without an image; an image's label
        is an index into this.
    **parts : tuple of uint8 array (n, height, width, 1) and integer array (n,)
        Images and labels, by the name of their folder: `train`, `test`.

    Returns
    -------
    Path
        A folder in the user's cache. It has this name only when it is complete;
        after an interrupt the next call continues where this one stopped.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    digest = hashlib.sha256()
    for images, labels in parts.values():
        digest.update(images.tobytes() + labels.tobytes())
    folder = cache_folder() / f"{name}-{digest.hexdigest()[:8]}"
    if folder.is_dir():
        return folder
    unfinished = folder.with_suffix(".part")
    try:
        _write_files(unfinished, classes, parts)
        os.replace(unfinished, folder)
    except OSError as error:
        if folder.is_dir():  # another notebook has written it meanwhile
            return folder
        raise DataError(
            f"cannot write image files to {cache_folder()} ({error.strerror}). Free "
            "some space there, or set XDG_CACHE_HOME to a folder of yours."
        ) from error
    return folder


def cache_folder() -> Path:
    """Where the class folders go."""
    return Path(platformdirs.user_cache_dir("scaling-labs")) / "class-folders"


def _write_files(folder, classes, parts):
    import tensorflow as tf

    total = sum(len(labels) for _, labels in parts.values())
    with progress(total=total, desc="PNG files", unit="file") as bar:
        for part, (images, labels) in parts.items():
            for name in classes:
                (folder / part / name).mkdir(parents=True, exist_ok=True)
            for number, (image, label) in enumerate(zip(images, labels, strict=True)):
                path = folder / part / classes[label] / f"{number:05d}.png"
                if not path.exists():
                    # A file gets its name only when complete, so an existing one is whole.
                    temporary = path.with_name(f".{path.name}.{os.getpid()}")
                    temporary.write_bytes(tf.io.encode_png(image).numpy())
                    os.replace(temporary, path)
                bar.update()
    for left in folder.rglob(".*.png.*"):
        left.unlink()
