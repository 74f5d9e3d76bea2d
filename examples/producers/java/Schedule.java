import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Has a text published to a topic after a delay, or withdraws it. */
public final class Schedule {
    private static final String INPUT = "duestream.schedules";

    public static void main(String[] args) throws Exception {
        if (args.length != 2 && args.length != 5) {
            System.err.println("Schedule SERVERS KEY [TOPIC DELAY TEXT]; without the rest: withdraw");
            System.exit(2);
        }
        String input = System.getenv().getOrDefault("DUESTREAM_TOPIC", INPUT);
        var record = args.length == 2
            ? new ProducerRecord<String, byte[]>(input, args[1], null)
            : scheduled(input, args[1], args[2], args[3], args[4]);
        try (var producer = new KafkaProducer<String, byte[]>(options(args[0]))) {
            var sent = producer.send(record).get();
            System.out.println(sent.partition() + "-" + sent.offset());
        }
    }

    static ProducerRecord<String, byte[]> scheduled(
            String input, String key, String topic, String delay, String text) {
        var record = new ProducerRecord<>(input, key, text.getBytes(StandardCharsets.UTF_8));
        Map.of(
            "ce_specversion", "1.0",
            "ce_id", UUID.randomUUID().toString(),
            "ce_source", "/examples/java",
            "ce_type", "io.duestream.schedule.v1",
            "ce_outputtopic", topic,
            "ce_delayby", delay,
            "content-type", "text/plain"
        ).forEach((name, value) ->
            record.headers().add(name, value.getBytes(StandardCharsets.UTF_8)));
        return record;
    }

    static Properties options(String servers) {
        var options = new Properties();
        options.put("bootstrap.servers", servers);
        options.put("acks", "all");
        options.put("key.serializer", StringSerializer.class.getName());
        options.put("value.serializer", ByteArraySerializer.class.getName());
        return options;
    }
}
