import Archive
import ServiceRuntime

extension CommandFailure {
  /// What an archive's fault ends a command with.
  init(_ error: ArchiveError) {
    let code: ExitCode =
      switch error.kind {
      case .inUse: .dataDirectoryInUse
      case .diskFull, .notWritable, .damaged: .diskError
      case .missing, .newer, .other: .failed
      }
    self.init(code, error.text)
  }

  /// Runs `body`, whose archive errors become the command's end.
  static func translating<R: ~Copyable>(_ body: () throws(ArchiveError) -> R) throws -> R {
    do throws(ArchiveError) { return try body() } catch { throw CommandFailure(error) }
  }
}
