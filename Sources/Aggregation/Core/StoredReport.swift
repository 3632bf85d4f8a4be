/// A report as the aggregator's tables know it.
struct StoredReport: Sendable {
  /// Given once; never given again, so that nothing left over of a removed report can be taken for
  /// another's.
  var id: Int64
  var definition: ReportDefinition
  var counters = ReportCounters()
}
