// The peer of the collector row: the libraries that sinks in Go are made of.
module sink-peer

go 1.24.0

require (
	github.com/ClickHouse/ch-go v0.68.0
	github.com/twmb/franz-go v1.20.0
	google.golang.org/protobuf v1.36.10
)

require (
	github.com/go-faster/city v1.0.1 // indirect
	github.com/go-faster/errors v0.7.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.18.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.22 // indirect
	github.com/segmentio/asm v1.2.0 // indirect
	github.com/twmb/franz-go/pkg/kmsg v1.12.0 // indirect
	go.opentelemetry.io/otel v1.37.0 // indirect
	go.opentelemetry.io/otel/trace v1.37.0 // indirect
	golang.org/x/sys v0.35.0 // indirect
)
