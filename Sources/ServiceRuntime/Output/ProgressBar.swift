internal import Primitives

/// How far long work is, on stderr, when that is a terminal; nothing otherwise.
///
/// Drawn at most ten times a second, whatever the number of updates. One owner.
public struct ProgressBar: ~Copyable {
  private static let interval: Int64 = 100_000_000

  private let isShown: Bool
  private let label: String
  private let total: Int?
  private let start: Int64
  private var nextDraw: Int64 = 0
  private var isDrawn = false

  /// - Parameter total: nil when the end is not known; a count and a rate are shown then.
  public init(_ label: String, total: Int?) {
    self.label = label
    self.total = total
    isShown = DescriptorWriter.isTerminal(2)
    start = SystemClock.monotonic()
  }

  public mutating func update(_ done: Int) {
    guard isShown else { return }
    let now = SystemClock.monotonic()
    guard now >= nextDraw else { return }
    nextDraw = now + Self.interval
    isDrawn = true
    let seconds = Double(now - start) / 1e9
    write("\r\u{1B}[K" + ProgressText.line(label, done: done, total: total, seconds: seconds))
  }

  /// Takes the bar off the screen; what is printed next begins a clean line.
  public mutating func finish() {
    if isDrawn { write("\r\u{1B}[K") }
    isDrawn = false
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    // A bar that cannot be drawn is no reason to stop the work it tells of.
    do { try unsafe DescriptorWriter.writeAll(bytes.span.bytes, to: 2) } catch {}
  }
}

enum ProgressText {
  private static let barWidth = 24

  static func line(_ label: String, done: Int, total: Int?, seconds: Double) -> String {
    let rate = seconds > 0 ? Double(done) / seconds : 0
    let speed = "\(count(Int(min(rate, 1e15))))/s"
    let name = TerminalText.escape(label)
    guard let total, total > 0 else { return "\(name) \(count(done))  \(speed)" }
    let share = min(max(Double(done) / Double(total), 0), 1)
    let filled = Int(share * Double(barWidth))
    let bar =
      String(repeating: "█", count: filled) + String(repeating: "░", count: barWidth - filled)
    var text = "\(name) \(bar) \(Int(share * 100))%  \(count(done))/\(count(total))  \(speed)"
    if rate > 0, done < total {
      text += "  \(Int(min(Double(total - done) / rate, 1e9)) + 1) s left"
    }
    return text
  }

  /// `1234567` as `1 234 567`.
  static func count(_ value: Int) -> String {
    let digits = Array(String(value.magnitude))
    var text = value < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += " " }
      text.append(digit)
    }
    return text
  }
}
