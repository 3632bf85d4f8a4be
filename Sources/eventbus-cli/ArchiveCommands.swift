/// The commands that read an archive's files, or put them in order.
enum ArchiveCommands {
  static let entries: [Commands.Entry] = [
    ArchiveQueryCommand.entry, ArchiveReplayCommand.entry, ArchiveImportCommand.entry,
    ArchiveForgetCommand.entry,
    ArchiveSQLCommand.entry, ArchiveVerifyCommand.entry, ArchiveCompactCommand.entry,
  ]
}
