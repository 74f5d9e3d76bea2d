// Has a text published to a topic after a delay, or withdraws it.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	args := os.Args[1:]
	if len(args) != 2 && len(args) != 5 {
		log.Fatal("schedule SERVERS KEY [TOPIC DELAY TEXT]; without the rest: withdraw")
	}
	// The default partitioner of franz-go puts keys where Java's does.
	client, err := kgo.NewClient(kgo.SeedBrokers(args[0]), kgo.RequiredAcks(kgo.AllISRAcks()))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	record := &kgo.Record{
		Topic: cmp.Or(os.Getenv("DUESTREAM_TOPIC"), "duestream.schedules"),
		Key:   []byte(args[1]),
	}
	if len(args) == 5 {
		schedule(record, args[2], args[3], args[4])
	}
	sent, err := client.ProduceSync(context.Background(), record).First()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d-%d\n", sent.Partition, sent.Offset)
}

func schedule(record *kgo.Record, topic, delay, text string) {
	record.Value = []byte(text)
	for _, header := range [][2]string{
		{"ce_specversion", "1.0"},
		{"ce_id", rand.Text()},
		{"ce_source", "/examples/go"},
		{"ce_type", "io.duestream.schedule.v1"},
		{"ce_outputtopic", topic},
		{"ce_delayby", delay},
		{"content-type", "text/plain"},
	} {
		record.Headers = append(record.Headers,
			kgo.RecordHeader{Key: header[0], Value: []byte(header[1])})
	}
}
