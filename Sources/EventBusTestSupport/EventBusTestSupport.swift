// Recorder and fakes of the app side; a test target that must do without the bus imports that module.
@_exported public import AnalyticsTestSupport
