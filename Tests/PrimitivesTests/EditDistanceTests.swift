import Primitives
import Testing

@Suite struct EditDistanceTests {
  private static let known = [
    "top", "tail", "bench", "status", "json", "bus", "live", "csv", "debug", "events", "duration",
    "retention-bytes",
  ]

  @Test(arguments: [
    ("tpo", "top"), ("tial", "tail"), ("tal", "tail"), ("bnech", "bench"), ("stats", "status"),
    ("evnets", "events"), ("evetn", "events"), ("jsn", "json"), ("dur", "duration"),
    ("retension-byte", "retention-bytes"), ("retentoin-bites", "retention-bytes"),
  ])
  func `a slip finds its word`(_ row: (typed: String, meant: String)) {
    #expect(EditDistance.nearest(to: row.typed, in: Self.known) == row.meant)
  }

  @Test(arguments: [
    "foo", "nosuch", "id", "n", "limit", "xml", "loud", "seconds", "", "retentive-mice",
    String(repeating: "top", count: 30),
  ])
  func `another word finds none`(_ typed: String) {
    #expect(EditDistance.nearest(to: typed, in: Self.known) == nil)
  }
}
