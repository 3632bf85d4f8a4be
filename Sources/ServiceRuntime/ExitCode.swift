/// What the program's exit status means; scripts rely on the numbers.
public enum ExitCode: Int32, Sendable {
  case done = 0
  case failed = 1
  case usage = 2
  case someInputRefused = 3
  /// Events were lost, not acknowledged, or cannot be accounted for.
  case eventsUnaccounted = 4
  /// Events were missing and the command was told to stop at gaps.
  case gap = 5
  /// Another instance took over.
  case fenced = 6
  /// The bus was unreachable before anything was sent.
  case busUnreachable = 69
  case dataDirectoryInUse = 73
  case diskError = 74
  case interrupted = 130
  case terminated = 143
}
