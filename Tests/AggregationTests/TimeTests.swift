import Primitives
import Testing

@testable import Aggregation

@Suite struct CivilTimeTests {
  private func second(_ text: String) throws -> Int64 {
    try #require(Timestamp(text: text)).nanoseconds / 1_000_000_000
  }

  private func zone(_ name: String) throws -> CivilTime {
    try #require(CivilTime(named: name), "the Debian package tzdata has \(name)")
  }

  @Test(arguments: [
    ("America/New_York", "2013-03-10", 23), ("America/New_York", "2013-11-03", 25),
    ("America/New_York", "2013-03-11", 24), ("Europe/Berlin", "2040-03-25", 23),
    ("Europe/Berlin", "2200-10-26", 25), ("Pacific/Apia", "2011-12-29", 24),
    ("America/Sao_Paulo", "2018-11-04", 23), ("UTC", "2013-03-10", 24),
  ])
  func `a day has the hours its clocks showed`(name: String, day: String, hours: Int64) throws {
    let zone = try zone(name)
    let window = WindowRule(.day, zone: zone).window(at: try second("\(day)T18:00:00Z"))
    #expect(window.upperBound - window.lowerBound == hours * 3600)
    #expect(zone.text(window.lowerBound).hasPrefix(day))
  }

  @Test(arguments: [
    "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "Asia/Kolkata", "Pacific/Apia",
    "America/Sao_Paulo", "Africa/Casablanca", "Antarctica/Troll", "Europe/Dublin",
  ])
  func `windows follow each other without gap or overlap`(name: String) throws {
    let zone = try zone(name)
    for length in [WindowRule.Length.hour, .day, .week, .month] {
      let rule = WindowRule(length, zone: zone)
      var at = try second("2010-12-20T00:00:00Z")
      let end = try second("2013-01-20T00:00:00Z")
      var window = rule.window(at: at)
      while at < end {
        #expect(window.lowerBound <= at && at < window.upperBound)
        let next = rule.window(at: window.upperBound)
        #expect(next.lowerBound == window.upperBound, "\(length) at \(zone.text(at))")
        #expect(rule.window(at: window.upperBound - 1) == window)
        (at, window) = (window.upperBound, next)
      }
    }
  }

  @Test func `the hour that comes twice is two windows, the one left out is none`() throws {
    let zone = try zone("America/New_York")
    let rule = WindowRule(.hour, zone: zone)
    func hours(_ day: String) throws -> [String] {
      let window = WindowRule(.day, zone: zone).window(at: try second("\(day)T18:00:00Z"))
      var starts: [String] = []
      var at = window.lowerBound
      while at < window.upperBound {
        starts.append(String(zone.text(at).dropFirst(11)))
        at = rule.window(at: at).upperBound
      }
      return starts
    }
    let spring = try hours("2013-03-10")
    #expect(spring.count == 23 && spring[1] == "01:00:00-05:00" && spring[2] == "03:00:00-04:00")
    let autumn = try hours("2013-11-03")
    #expect(autumn.count == 25 && autumn[1] == "01:00:00-04:00" && autumn[2] == "01:00:00-05:00")
  }

  @Test func `weeks begin on Monday and months on their first day`() throws {
    let at = try second("2024-05-01T12:00:00Z")
    let week = WindowRule(.week).window(at: at)
    #expect(CivilTime.utc.text(week.lowerBound) == "2024-04-29T00:00:00Z")
    #expect(CivilTime.utc.text(week.upperBound) == "2024-05-06T00:00:00Z")
    let month = WindowRule(.month).window(at: try second("2023-12-31T23:59:59Z"))
    #expect(CivilTime.utc.text(month.lowerBound) == "2023-12-01T00:00:00Z")
    #expect(CivilTime.utc.text(month.upperBound) == "2024-01-01T00:00:00Z")
  }

  @Test(arguments: ["", "/etc/passwd", "../passwd", "No/Such", "Europe", "a b", "Europe/../UTC"])
  func `what is no zone is none`(name: String) {
    #expect(CivilTime(named: name) == nil)
  }

  @Test(arguments: [
    ("<+0330>-3:30", 12_600), ("EST5", -18_000), ("IST-1GMT0,M10.5.0,M3.5.0/1", 3600),
    ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200), ("AEST-10AEDT,J60,365/3", 36_000),
  ])
  func `rules of years to come are read`(text: String, standard: Int) {
    #expect(PosixRule(text)?.standard == standard)
  }

  @Test(arguments: [
    "", "E5", "<E\0ST", "EST", "EST5EDT", "EST5EDT,M13.1.0,M1.1.0", "EST5EDT,M3.2.0",
  ])
  func `what is no rule is none`(text: String) { #expect(PosixRule(text) == nil) }

  @Test func `a file that is cut off is none`() throws {
    #expect(ZoneFile([]) == nil)
    #expect(ZoneFile(Array("TZif2".utf8) + [UInt8](repeating: 255, count: 60)) == nil)
  }
}
