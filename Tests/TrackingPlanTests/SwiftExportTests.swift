import EventModel
import Foundation
import Primitives
import Testing
import TrackingPlan

/// Tests of the Swift that is made of a plan. `ExportedEvents.swift` is what the sample gives, so that
/// the compiler has read it.
@Suite struct SwiftExportTests {
  @Test func `the sample's Swift is the file that is compiled here`() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "ExportedEvents.swift")
    let compiled = try String(contentsOf: file, encoding: .utf8)
    #expect(SwiftExport(module: "EventModel").source(try SamplePlan.plan()) == compiled)
  }

  @Test func `an exported event is as planned and reads back`() throws {
    let event = EventType.OrderPlaced(
      total: 9.5, paymentKind: .invoice,
      placedAt: Timestamp(nanoseconds: 1_700_000_000_000_000_000), class: true)
    var writer = PropertyWriter()
    let map = writer.output.beginMap()
    try event.encodeProperties(into: &writer)
    writer.output.end(map, count: writer.count)
    let bytes = writer.output.bytes
    let read = try unsafe EventType.OrderPlaced(properties: PropertyReader(bytes.span.bytes))
    #expect(read == event)
    let properties = try unsafe PropertyReader(bytes.span.bytes).all()
    #expect(
      PlanCheck(try SamplePlan.plan()).problems(EventType.OrderPlaced.eventType, properties) == [])
  }

  @Test func `names that people chose become names of Swift`() throws {
    var plan = PlanDocument()
    plan.events = ["Order-Placed", "order placed", "2nd Try", "Type", "日本", "a\"b\\\u{202E}"]
      .map { EventDefinition(EventType($0)) }
    let source = SwiftExport().source(plan)
    let structs = source.split(separator: "\n").filter { $0.contains("struct") }
      .compactMap { $0.split(separator: " ").dropFirst(2).first }
    #expect(
      structs == ["OrderPlaced:", "OrderPlaced2:", "_2ndTry:", "Type2:", "日本:", "AB:"])
    #expect(source.contains("= \"a\\\"b\\\\\\u{202E}\""))
  }
}
