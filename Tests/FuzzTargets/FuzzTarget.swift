/// One decoder under attack: a function that takes any bytes at all.
///
/// It must not trap, must not read outside its bytes (AddressSanitizer sees that), and keeps the
/// property that its file states; where it does not, it throws a ``Violation``.
public struct FuzzTarget: Sendable {
  /// As `Deploy/fuzz` takes it; also the name of its file in `Corpus`.
  public let name: String
  /// Inputs to begin with: valid ones of each shape, since chance does not find a magic number.
  public let seeds: [[UInt8]]
  /// It opens files or answers whole questions, and so takes a hundred times as long as a decoder.
  public let isSlow: Bool
  public let run: @Sendable ([UInt8]) throws(Violation) -> Void

  init(
    _ name: String, seeds: [[UInt8]], isSlow: Bool = false,
    run: @escaping @Sendable ([UInt8]) throws(Violation) -> Void
  ) {
    self.name = name
    self.seeds = seeds
    self.isSlow = isSlow
    self.run = run
  }

  init(
    _ name: String, seeds: [String],
    run: @escaping @Sendable ([UInt8]) throws(Violation) -> Void
  ) {
    self.init(name, seeds: seeds.map { Array($0.utf8) }, run: run)
  }

  /// Every target there is. Without one are: what the kernel and libzmq alone write (`/proc`, ZAP and monitor
  /// frames), pages of SQLite's own, what the commands read of our services' answers (an executable cannot be
  /// linked here; the JSON reader beneath has targets), and a game's board, which nobody sends.
  public static let all: [FuzzTarget] =
    packedTargets + eventTargets + nameTargets + textTargets + protocolTargets + compressionTargets
    + journalTargets + segmentTargets + fileTargets + outsideTargets + sinkEventTargets
    + insideTargets

  public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// A property of a decoder that an input broke.
public struct Violation: Error, CustomStringConvertible {
  public let description: String
}

func require(
  _ holds: Bool, _ broken: @autoclosure () -> String
) throws(Violation) {
  if !holds { throw Violation(description: broken()) }
}

/// The value, or a violation where what must succeed was refused.
func accepted<T, E: Error>(
  _ what: @autoclosure () -> String, _ body: () throws(E) -> T
) throws(Violation) -> T {
  do throws(E) {
    return try body()
  } catch {
    throw Violation(description: "\(what()): \(error)")
  }
}

/// What a decoder says to its input: a value, or the error by which it refuses.
func answer<T, E: Error>(_ body: () throws(E) -> T) -> Result<T, E> {
  do throws(E) {
    return .success(try body())
  } catch {
    return .failure(error)
  }
}

extension [UInt8] {
  /// Cuts an input that stands for two: what is before the first byte of this value, and what follows.
  func parted(at byte: UInt8) -> (first: [UInt8], rest: [UInt8]) {
    guard let at = firstIndex(of: byte) else { return (self, []) }
    return (Array(self[..<at]), Array(self[(at + 1)...]))
  }

  /// Its first byte, which chooses among several shapes, and what follows.
  var chosen: (choice: Int, rest: [UInt8]) {
    guard let first else { return (0, []) }
    return (Int(first), Array(dropFirst()))
  }

  var text: String { String(decoding: self, as: UTF8.self) }
}

// Some decoders are no module's public matter. A release build that is not made for tests has no access
// to them, so it goes without these targets.
#if DEBUG || FUZZING
  private let insideTargets =
    collectorTargets + destinationTargets + stateTargets + archiveTargets + clientTargets
    + brokerTargets + spoolTargets + sessionTargets + sinkTargets + reportTargets
#else
  private let insideTargets: [FuzzTarget] = []
#endif
