import Archive
import BusProtocol
import HTTPServer
import Primitives
import ServiceRuntime
import SinkState

/// What the archiver answers about itself over HTTP.
enum ArchiverHealth {
  /// Not ready while the directory cannot be written or the bus is away, and once the end was asked for.
  static func routes(_ archiver: Archiver, _ interruption: Interruption) -> HTTPRoutes {
    .health(
      metrics: { metrics(archiver.status) },
      isReady: { archiver.status.isReady && !interruption.isRequested },
      status: { status(archiver.status) })
  }

  private static func status(_ status: ArchiverStatus) -> JSONText {
    var members: [JSONText.Member] = [
      .init("service", "archiver"), .init("state", .text(status.state.rawValue)),
      .init("trouble", .text(status.trouble?.text ?? "")),
      .init("troubleKind", .text(status.trouble?.kind.rawValue ?? "")),
      .init("busConnected", .boolean(status.isConnected)),
      .init("bus", BusLinkHealth.json(status.link)), .init("lag", integer(status.lag)),
      .init("head", integer(status.head)),
    ]
    if let progress = status.progress {
      members += [
        .init(
          "cursor",
          .object([
            .init("epoch", integer(progress.cursor.epoch)),
            .init("offset", integer(progress.cursor.offset)),
          ])),
        .init("ledger", ledger(progress)),
      ]
    }
    members += [
      .init("part", part(status.openPart)), .init("partsWritten", integer(status.partsWritten)),
      .init("bytesWritten", integer(status.bytesWritten)),
      .init("filesRemoved", integer(status.filesRemoved)),
      .init("failures", integer(status.failures)), .init("doubles", doubles(status)),
      .init("peopleForgotten", integer(status.peopleForgotten)),
      .init("unerasable", .list(status.unerasable.map { .text($0) })),
    ]
    return .object(members)
  }

  private static func ledger(_ progress: SinkProgress) -> JSONText {
    .object(
      counts(progress.ledger).map { .init($0.0, integer($0.1)) } + [
        .init("start", integer(progress.ledger.start.offset)),
        .init("rewound", integer(progress.ledger.rewound)),
        .init("balanced", .boolean(progress.ledger.isBalanced(at: progress.cursor))),
      ])
  }

  private static func counts(_ ledger: SinkLedger) -> [(String, UInt64)] {
    [
      ("applied", ledger.applied), ("duplicate", ledger.duplicate), ("refused", ledger.refused),
      ("dead", ledger.dead), ("forgotten", ledger.forgotten), ("notMatched", ledger.notMatched),
      ("missing", ledger.missing), ("skipped", ledger.skipped),
    ]
  }

  private static func part(_ part: OpenPart?) -> JSONText {
    guard let part else { return .null }
    let age = SystemClock.monotonic() - part.opened
    return .object([
      .init("first", integer(part.first.offset)), .init("events", integer(part.events)),
      .init("bytes", integer(part.size.bytes)), .init("rawBytes", integer(part.size.rawBytes)),
      .init("ageSeconds", .double(Double(age / 1_000_000) / 1000)),
    ])
  }

  private static func doubles(_ status: ArchiverStatus) -> JSONText {
    .object([
      .init("remembered", integer(status.doublesRemembered)),
      .init("bytes", integer(status.doubleBytes)),
      .init("conflicts", integer(status.conflictCount)),
      .init(
        "latestConflicts",
        .list(
          status.conflicts.map { conflict in
            .object([
              .init("offset", integer(conflict.place.offset)),
              .init("event", .text(String(decoding: conflict.name, as: UTF8.self))),
              .init("messageId", .text(String(decoding: conflict.messageId, as: UTF8.self))),
            ])
          })),
    ])
  }

  private static func integer(_ value: some BinaryInteger) -> JSONText {
    .integer(Int64(clamping: value))
  }

  private static func metrics(_ status: ArchiverStatus) -> [Metric] {
    let ledger = status.progress.map { counts($0.ledger) } ?? []
    return [
      Metric(
        "eventbus_archiver_events_total", .counter,
        help: "What became of each event since the archive began.",
        samples: ledger.map { .init(Double($0.1), [.init("outcome", $0.0)]) }),
      counter("conflicts_total", "Doubles with other content.", status.conflictCount),
      counter("parts_written_total", "Files written since the start.", status.partsWritten),
      counter("bytes_written_total", "Their bytes.", status.bytesWritten),
      counter("failures_total", "Times that writing failed.", status.failures),
      counter("gaps_total", "Times that events were gone before they came.", status.gaps),
      gauge("lag_events", "Events of the journal that the archiver has not read yet.", status.lag),
      gauge("part_events", "Events of the open part.", status.openPart?.events ?? 0),
      gauge(
        "doubles_remembered", "Events that a double would be found of.", status.doublesRemembered),
      gauge("writing", "1 while the directory can be written.", status.trouble == nil ? 1 : 0),
      gauge("bus_connected", "1 while the bus is reached.", status.isConnected ? 1 : 0),
      BusLinkHealth.metric("eventbus_archiver", status.link),
    ]
  }

  private static func counter(_ name: String, _ help: String, _ value: UInt64) -> Metric {
    .counter("eventbus_archiver_\(name)", help: help, Int(clamping: value))
  }

  private static func gauge(_ name: String, _ help: String, _ value: some BinaryInteger) -> Metric {
    .gauge("eventbus_archiver_\(name)", help: help, Double(value))
  }
}
