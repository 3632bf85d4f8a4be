import BusProtocol
import Testing

/// What is refused has one spelling, and the guide has all of them.
struct RefusalTableTests {
  @Test func `the guide lists every refusal code, and no other, in the order of the source`() throws
  {
    let codes = try rows().map(\.code)
    #expect(codes == RefusalCode.allCases.map(\.rawValue))
  }

  @Test func `the guide says of each code whether to send again`() throws {
    for row in try rows() {
      let code = try #require(RefusalCode(rawValue: row.code))
      #expect((row.again != "no") == code.isRetriable, "\(row.code)")
    }
  }

  /// The first and the last cell of each row that begins with a code.
  private func rows() throws -> [(code: String, again: String)] {
    let lines = try Readme.text(of: "Deploy/Guide/Rules.md").split(separator: "\n")
    let table = lines.drop { $0 != "## Refusal codes" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    return table.filter { $0.hasPrefix("| `") }.map { line in
      let cells = line.split(separator: "|").map { String($0.filter { $0 != "`" }) }
      return (
        cells[0].filter { $0 != " " },
        String(cells[cells.count - 1].drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      )
    }
  }
}
