/// A command line that cannot be followed: one line for the user, exit code 2.
public struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Names the option or argument, says what is wrong and what to write instead. One line.
  public var message: String

  public init(_ message: String) { self.message = TerminalText.escape(message) }

  public var description: String { message }
  public var exitCode: ExitCode { .usage }
}
