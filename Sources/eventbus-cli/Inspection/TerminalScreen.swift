import CPlatform
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The terminal as a screen of its own: what was there comes back at the end, cursor and keys too.
final class TerminalScreen {
  enum Key { case quit, other }

  private static let enter = "\u{1B}[?1049h\u{1B}[?25l"
  private static let leave = "\u{1B}[?25h\u{1B}[?1049l"

  private var before = termios()
  private var hasKeys = false
  private var isShown = false

  /// Nil when stdout is no terminal.
  init?() {
    guard isatty(1) == 1 else { return nil }
    // Without a terminal on stdin there are no keys; Ctrl-C still ends it.
    hasKeys = unsafe eb_terminal_keys(0, &before) == 0
    Terminal.output(Self.enter)
    isShown = true
  }

  deinit { leave() }

  func leave() {
    guard isShown else { return }
    isShown = false
    Terminal.output(Self.leave)
    if hasKeys { unsafe eb_terminal_restore(0, &before) }
  }

  /// Draws the lines that `body` gives for the size that the screen has now. Lines are written over the
  /// old ones, not after a clearing, so that nothing flickers.
  func show(_ body: (_ rows: Int, _ columns: Int) -> [String]) {
    var (rows, columns): (Int32, Int32) = (24, 80)
    if unsafe eb_terminal_size(1, &rows, &columns) != 0 || rows < 1 || columns < 1 {
      (rows, columns) = (24, 80)
    }
    let lines = body(Int(rows), Int(columns))
    Terminal.output(
      "\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
  }

  /// Waits for a key, a request to end, or the time.
  func wait(milliseconds: Int32, interruption: Interruption) -> Key {
    var items = [
      pollfd(fd: interruption.wake.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: hasKeys ? 0 : -1, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&items, 2, milliseconds)
    guard items[1].revents != 0 else { return .other }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(0, &bytes, bytes.count)
    // The terminal has gone: nothing more will come.
    guard count > 0 else {
      hasKeys = false
      return .other
    }
    return bytes[..<count].contains { $0 == UInt8(ascii: "q") || $0 == UInt8(ascii: "Q") }
      ? .quit : .other
  }
}
