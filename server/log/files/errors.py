"""The errors of the storage in files when the system fails, and not the bytes are wrong."""


class DiskFailure(Exception):
    """The system refused to read, write or rename. This log directory is not used any more (Kafka
    takes it offline, and serves the others).

    `folder` is the log directory, `why` the system's reason. A batch that was being written may be
    there in part; it is never acknowledged.
    """

    def __init__(self, folder: str, why: str) -> None:
        super().__init__(f"log dir {folder}: {why}")
        self.folder, self.why = folder, why


class LostFile(DiskFailure):
    """A file of one partition is missing, or is shorter than it was written. That partition fails,
    and the log directory stays in use.

    `path` is relative to the log directory, and begins with the partition's folder.
    """

    def __init__(self, folder: str, why: str, path: str) -> None:
        super().__init__(folder, why)
        self.path = path
