import Aggregation
import BusProtocol
import Dashboard
import HTTPServer
import Primitives
import ServiceRuntime
import SinkState
import Synchronization

/// What the aggregator answers over HTTP: the page, `/api/reports`, `/api/reports/NAME`, `/api/live` (a
/// stream), `/api/rates`, `/api/health` (of the whole pipeline), and its own health.
struct AggregatorRoutes: Sendable {
  private static let reportPrefix = "/api/reports/"

  let aggregator: Aggregator
  let access: DashboardAccess
  let assets: DashboardAssets
  let live: LiveFeed
  let pipeline: PipelineHealth
  let health: HTTPRoutes
  /// Counts who may not look.
  let page: PageServer

  func answer(_ request: HTTPRequest, _ responder: HTTPResponder) {
    if let answer = access.answer(request) {
      if DashboardAccess.isDenial(answer) { page.denied.add(1, ordering: .relaxed) }
      return responder.answer(answer)
    }
    if let answer = assets.answer(request) { return responder.answer(answer) }
    guard request.path.hasPrefix("/api/") else { return responder.answer(health.answer(request)) }
    guard request.method == "GET" || request.method == "HEAD" else {
      var refusal = HTTPResponse.text("use GET\n", status: 405)
      refusal.headers = [HTTPRequest.Field("Allow", "GET, HEAD")]
      return responder.answer(refusal)
    }
    if let known = Self.parameters(request.path),
      let fault = request.parameterFault(besides: known)
    {
      return responder.answer(Self.closed(Self.wrong(fault, 400)))
    }
    switch request.path {
    case "/api/live": live.open(responder)
    case "/api/health": pipeline.answer(responder)
    case "/api/rates": responder.answer(Self.closed(rates(request)))
    default: responder.answer(Self.closed(reports(request)))
    }
  }

  /// What may be asked of a path; nil for one that is none.
  private static func parameters(_ path: String) -> [String]? {
    switch path {
    case "/api/live", "/api/health": []
    case "/api/rates": ["search"]
    case "/api/reports": ["format"]
    default:
      path.hasPrefix(reportPrefix) ? ["from", "to", "groups", "search", "windows", "format"] : nil
    }
  }

  /// Answers of the API are data and nothing else, whatever a browser makes of them.
  private static func closed(_ answer: HTTPResponse) -> HTTPResponse {
    var answer = answer
    answer.headers += [
      HTTPRequest.Field("X-Content-Type-Options", "nosniff"),
      HTTPRequest.Field("Cache-Control", "no-store"),
    ]
    return answer
  }

  private func rates(_ request: HTTPRequest) -> HTTPResponse {
    .json(live.rates(search: request.parameter("search") ?? "", limit: 100).utf8)
  }

  private func reports(_ request: HTTPRequest) -> HTTPResponse {
    let isReport = request.path.hasPrefix(Self.reportPrefix)
    guard isReport || request.path == "/api/reports" else {
      return .text("no such path\n", status: 404)
    }
    guard isReport else {
      switch request.parameter("format") ?? "json" {
      case "json": return .json(list.utf8 + [UInt8(ascii: "\n")])
      case "table": return .text(ReportText.list(aggregator.status.reports))
      case let other: return Self.wrong("format must be json or table, not '\(other)'", 400)
      }
    }
    return report(String(request.path.dropFirst(Self.reportPrefix.count)), request)
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
      case .notYet: return Self.wrong(notYet(name), 503)
      case .unknown(let nearest):
        let hint = nearest.map { ": did you mean \"\($0)\"?" } ?? ""
        return Self.wrong("no report \"\(name)\"\(hint)", 404)
      }
    } catch { return Self.wrong("\(error)", 500) }
  }

  private func notYet(_ name: String) -> String {
    let status = aggregator.status
    guard let filling = status.filling, filling.reports.contains(name) else {
      return "report \(name) is being taken up; ask again soon"
    }
    return "report \(name) is being filled from the journal: it is at offset \(filling.offset) of "
      + "\(status.progress?.cursor.offset ?? 0); ask again soon"
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
    switch (question.from, question.to) {
    case (.second(let from)?, .second(let to)?) where from >= to,
      (.local(let from)?, .local(let to)?) where from >= to:
      throw UsageError("from must lie before to")
    default: break
    }
    question.search = request.parameter("search") ?? ""
    switch request.parameter("windows") ?? "all" {
    case "all": question.listsWindows = true
    case "none": question.listsWindows = false
    case let other: throw UsageError("windows must be all or none, not '\(other)'")
    }
    guard let text = request.parameter("groups") else { return question }
    guard let groups = Int(text), 1...100_000 ~= groups else {
      throw UsageError("groups must be a whole number from 1 to 100000, not '\(text)'")
    }
    question.groups = groups
    return question
  }

  /// Whole seconds, rounded down. What names no zone is in the report's.
  private static func time(
    _ request: HTTPRequest, _ name: String
  ) throws(UsageError) -> ReportTime? {
    guard let text = request.parameter(name), !text.isEmpty else { return nil }
    switch try TimeText.moment(text, naming: name) {
    case .known(let nanoseconds): return .second(nanoseconds / 1_000_000_000)
    case .local(let nanoseconds): return .local(nanoseconds / 1_000_000_000)
    }
  }

  private var list: JSONText {
    let reports = aggregator.status.reports.map { report in
      JSONText.object([
        .init("name", .text(report.name)), .init("title", .text(report.title)),
        .init("kind", .text(report.kind)), .init("window", .text(report.window)),
        .init("zone", .text(report.zone)), .init("by", .list(report.by.map { .text($0) })),
        .init("measures", .list(report.measures.map { .text($0) })),
        .init("events", .integer(Int64(clamping: report.events))),
        .init("expired", .integer(Int64(clamping: report.expired))),
        .init("late", .integer(Int64(clamping: report.late))),
        .init("withoutUser", .integer(Int64(clamping: report.withoutUser))),
      ])
    }
    return .object([.init("reports", .list(reports))])
  }
}
