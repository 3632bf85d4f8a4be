import Aggregation
import HTTPServer
import Hashing
import Primitives
import ServiceRuntime

/// What the aggregator answers over HTTP: `/api/reports`, `/api/reports/NAME`, and its health.
struct AggregatorRoutes: Sendable {
  private static let reportPrefix = "/api/reports/"

  let health: HTTPRoutes
  private let aggregator: Aggregator
  private let token: [UInt8]?

  init(_ aggregator: Aggregator, token: String?, health: HTTPRoutes) {
    self.aggregator = aggregator
    self.token = token.map { Array($0.utf8) }
    self.health = health
  }

  func answer(_ request: HTTPRequest) -> HTTPResponse {
    guard isAllowed(request) else {
      var refusal = HTTPResponse.text("a bearer token is wanted\n", status: 401)
      refusal.headers = [HTTPRequest.Field("WWW-Authenticate", "Bearer")]
      return refusal
    }
    let isReport = request.path.hasPrefix(Self.reportPrefix)
    guard isReport || request.path == "/api/reports" else { return health.answer(request) }
    guard request.method == "GET" || request.method == "HEAD" else {
      var refusal = HTTPResponse.text("use GET\n", status: 405)
      refusal.headers = [HTTPRequest.Field("Allow", "GET, HEAD")]
      return refusal
    }
    guard isReport else {
      let isTable = request.parameter("format") == "table"
      return isTable
        ? .text(ReportText.list(aggregator.status.reports))
        : .json(list.utf8 + [UInt8(ascii: "\n")])
    }
    return report(String(request.path.dropFirst(Self.reportPrefix.count)), request)
  }

  /// Whether the process lives and is ready, anybody may ask.
  private func isAllowed(_ request: HTTPRequest) -> Bool {
    guard let token, request.path != "/healthz", request.path != "/readyz" else { return true }
    let given = request.header("Authorization") ?? ""
    guard given.lowercased().hasPrefix("bearer ") else { return false }
    return ConstantTime.isEqual(Array(given.dropFirst(7).utf8), token)
  }

  private func report(_ name: String, _ request: HTTPRequest) -> HTTPResponse {
    let question: ReportQuestion
    do throws(UsageError) {
      question = try Self.question(request)
    } catch { return Self.wrong("\(error)", 400) }
    let format = request.parameter("format") ?? "json"
    guard ["json", "csv", "table"].contains(format) else {
      return Self.wrong("format must be json, csv or table, not '\(format)'", 400)
    }
    do throws(AggregatorError) {
      switch try aggregator.answer(name, question) {
      case .answer(let answer): return Self.response(answer, format)
      case .notYet: return Self.wrong("report \(name) is being taken up; ask again soon", 503)
      case .unknown(let nearest):
        let hint = nearest.map { ": did you mean \"\($0)\"?" } ?? ""
        return Self.wrong("no report \"\(name)\"\(hint)", 404)
      }
    } catch { return Self.wrong("\(error)", 500) }
  }

  private static func response(_ answer: ReportAnswer, _ format: String) -> HTTPResponse {
    switch format {
    case "csv":
      HTTPResponse(
        contentType: "text/csv; charset=utf-8", body: Array(ReportText.csv(answer).utf8))
    case "table": .text(ReportText.table(answer))
    default: .json(answer.json + [UInt8(ascii: "\n")])
    }
  }

  private static func wrong(_ text: String, _ status: UInt32) -> HTTPResponse {
    .json(JSONText.object([.init("error", .text(text))]).utf8 + [10], status: status)
  }

  private static func question(_ request: HTTPRequest) throws(UsageError) -> ReportQuestion {
    var question = ReportQuestion()
    question.from = try time(request, "from")
    question.to = try time(request, "to")
    if let from = question.from, let to = question.to, from >= to {
      throw UsageError("from must lie before to")
    }
    guard let text = request.parameter("groups") else { return question }
    guard let groups = Int(text), 1...100_000 ~= groups else {
      throw UsageError("groups must be a whole number from 1 to 100000, not '\(text)'")
    }
    question.groups = groups
    return question
  }

  /// Whole seconds, rounded down.
  private static func time(
    _ request: HTTPRequest, _ name: String
  ) throws(UsageError) -> Int64? {
    guard let text = request.parameter(name), !text.isEmpty else { return nil }
    let nanoseconds = try TimeText.nanoseconds(text, naming: name)
    return nanoseconds >= 0
      ? nanoseconds / 1_000_000_000 : (nanoseconds + 1) / 1_000_000_000 - 1
  }

  private var list: JSONText {
    let reports = aggregator.status.reports.map { report in
      JSONText.object([
        .init("name", .text(report.name)), .init("title", .text(report.title)),
        .init("kind", .text(report.kind)), .init("window", .text(report.window)),
        .init("zone", .text(report.zone)), .init("by", .list(report.by.map { .text($0) })),
        .init("measures", .list(report.measures.map { .text($0) })),
        .init("events", .integer(Int64(clamping: report.events))),
        .init("late", .integer(Int64(clamping: report.late))),
        .init("withoutUser", .integer(Int64(clamping: report.withoutUser))),
      ])
    }
    return .object([.init("reports", .list(reports))])
  }
}
