package main

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/encoding/protowire"
)

// columns collects rows by column, as the format requires.
type columns struct {
	epoch, partition                     proto.ColUInt32
	offset, linkID                       proto.ColUInt64
	appended, ts, original               proto.ColInt64
	topic, edge, domain, code, owner     proto.ColStr
	userAgent, referrer, language, query proto.ColStr
	id                                   proto.ColUUID
	outcome                              proto.ColInt8
	status                               proto.ColUInt16
	ip                                   proto.ColIPv6
	input                                proto.Input
}

func newColumns() *columns {
	c := &columns{}
	c.input = proto.Input{
		{Name: "epoch", Data: &c.epoch},
		{Name: "topic", Data: &c.topic},
		{Name: "partition", Data: &c.partition},
		{Name: "offset", Data: &c.offset},
		// DateTime64(3) has the format of an Int64.
		{Name: "append_time", Data: millis{&c.appended}},
		{Name: "event_id", Data: &c.id},
		{Name: "ts", Data: millis{&c.ts}},
		{Name: "original_ts", Data: millis{&c.original}},
		{Name: "edge", Data: &c.edge},
		{Name: "domain", Data: &c.domain},
		{Name: "code", Data: &c.code},
		{Name: "link_id", Data: &c.linkID},
		{Name: "owner", Data: &c.owner},
		{Name: "outcome", Data: &c.outcome},
		{Name: "status", Data: &c.status},
		{Name: "ip", Data: &c.ip},
		{Name: "user_agent", Data: &c.userAgent},
		{Name: "referrer", Data: &c.referrer},
		{Name: "language", Data: &c.language},
		{Name: "query", Data: &c.query},
	}
	return c
}

type millis struct{ *proto.ColInt64 }

func (millis) Type() proto.ColumnType { return "DateTime64(3, 'UTC')" }

func (c *columns) names() string {
	names := make([]string, len(c.input))
	for i, column := range c.input {
		names[i] = column.Name
	}
	return strings.Join(names, ", ")
}

func (c *columns) count() int { return c.offset.Rows() }

func (c *columns) reset() { c.input.Reset() }

func (c *columns) encode(b *proto.Buffer) error {
	block := proto.Block{Rows: c.count(), Columns: len(c.input)}
	return block.EncodeRawBlock(b, 0, c.input)
}

// click has the fields that protowire reads; they are those of
// schemas/click.proto.
type click struct {
	number [13]uint64
	bytes  [18][]byte
}

func decode(b []byte) (m click, err error) {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return m, protowire.ParseError(n)
		}
		b = b[n:]
		switch {
		case kind == protowire.VarintType && field < 13:
			m.number[field], n = protowire.ConsumeVarint(b)
		case kind == protowire.Fixed64Type && field < 13:
			m.number[field], n = protowire.ConsumeFixed64(b)
		case kind == protowire.BytesType && field < 18:
			m.bytes[field], n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(field, kind, b)
		}
		if n < 0 {
			return m, protowire.ParseError(n)
		}
		b = b[n:]
	}
	return m, nil
}

// address returns an IPv6 address; an IPv4 one is mapped.
func address(b []byte) (ip proto.IPv6) {
	if len(b) == 4 {
		ip[10], ip[11] = 0xff, 0xff
		copy(ip[12:], b)
	} else {
		copy(ip[:], b)
	}
	return ip
}

func (c *columns) add(r *kgo.Record) error {
	m, err := decode(r.Value)
	if err != nil {
		return err
	}
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], m.number[2])
	binary.BigEndian.PutUint64(id[8:], m.number[1])
	c.epoch.Append(1)
	c.topic.Append(r.Topic)
	c.partition.Append(uint32(r.Partition))
	c.offset.Append(uint64(r.Offset))
	c.appended.Append(r.Timestamp.UnixNano() / int64(time.Millisecond))
	c.id.Append(id)
	c.ts.Append(int64(m.number[3]))
	c.original.Append(int64(m.number[3]))
	c.edge.AppendBytes(m.bytes[4])
	c.domain.AppendBytes(m.bytes[5])
	c.code.AppendBytes(m.bytes[6])
	c.linkID.Append(m.number[7])
	c.owner.AppendBytes(m.bytes[8])
	c.outcome.Append(int8(m.number[11]))
	c.status.Append(uint16(m.number[12]))
	c.ip.Append(address(m.bytes[13]))
	c.userAgent.AppendBytes(m.bytes[14])
	c.referrer.AppendBytes(m.bytes[15])
	c.language.AppendBytes(m.bytes[16])
	c.query.AppendBytes(m.bytes[17])
	return nil
}
