// sink-peer reads a topic of clicks and inserts its messages into ClickHouse.
// It uses only franz-go, protowire and ch-go, the parts of sinks and clients in
// Go.  It has no look-ups, and fills only the columns that the message has.
//
// usage: sink-peer BROKER TOPIC GROUP URL DATABASE ROWS MILLISECONDS
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/twmb/franz-go/pkg/kgo"
)

type sink struct {
	kafka *kgo.Client
	url   string
	rows  *columns
	block proto.Buffer
	since time.Time
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func openSink(args []string) *sink {
	kafka, err := kgo.NewClient(kgo.SeedBrokers(args[1]),
		kgo.ConsumeTopics(args[2]), kgo.ConsumerGroup(args[3]),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit())
	must(err)
	rows := newColumns()
	// Blocks are not compressed, which costs least over loopback.
	query := url.Values{"database": {args[5]},
		"query": {"INSERT INTO clicks (" + rows.names() + ") FORMAT Native"}}
	return &sink{kafka: kafka, rows: rows, url: args[4] + "/?" + query.Encode()}
}

// flush inserts the collected rows, then commits their offsets: at least once,
// like other sinks.
func (s *sink) flush(ctx context.Context) {
	s.block.Reset()
	must(s.rows.encode(&s.block))
	answer, err := http.Post(s.url, "application/octet-stream",
		bytes.NewReader(s.block.Buf))
	must(err)
	text, err := io.ReadAll(answer.Body)
	must(err)
	must(answer.Body.Close())
	if answer.StatusCode != http.StatusOK {
		must(fmt.Errorf("%s: %s", answer.Status, text))
	}
	must(s.kafka.CommitUncommittedOffsets(ctx))
	s.rows.reset()
}

func (s *sink) run(rows int, age time.Duration) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), age)
		fetches := s.kafka.PollFetches(ctx)
		cancel()
		fetches.EachRecord(func(r *kgo.Record) {
			if s.rows.count() == 0 {
				s.since = time.Now()
			}
			must(s.rows.add(r))
		})
		if n := s.rows.count(); n >= rows ||
			n > 0 && time.Since(s.since) >= age {
			s.flush(context.Background())
		}
	}
}

func main() {
	if len(os.Args) != 8 {
		log.Fatal("usage: sink-peer BROKER TOPIC GROUP URL DATABASE ROWS ",
			"MILLISECONDS")
	}
	rows, err := strconv.Atoi(os.Args[6])
	must(err)
	age, err := strconv.Atoi(os.Args[7])
	must(err)
	openSink(os.Args).run(rows, time.Duration(age)*time.Millisecond)
}
