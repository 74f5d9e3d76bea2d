// Has a text published to a topic after a delay, or withdraws it.
const { randomUUID } = require("node:crypto");
const { Kafka, Partitioners, logLevel } = require("kafkajs");

async function main([servers, key, ...wish]) {
  if (key === undefined || (wish.length !== 0 && wish.length !== 3)) {
    throw new Error("schedule.js SERVERS KEY [TOPIC DELAY TEXT]; without the rest: withdraw");
  }
  const kafka = new Kafka({ brokers: servers.split(","), logLevel: logLevel.ERROR });
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner, // puts keys where Java's does
  });
  await producer.connect();
  try {
    const [sent] = await producer.send({
      topic: process.env.DUESTREAM_TOPIC ?? "duestream.schedules",
      acks: -1,
      messages: [wish.length === 0 ? { key, value: null } : scheduled(key, ...wish)],
    });
    console.log(`${sent.partition}-${sent.baseOffset}`);
  } finally {
    await producer.disconnect();
  }
}

function scheduled(key, topic, delay, text) {
  return {
    key,
    value: text,
    headers: {
      ce_specversion: "1.0",
      ce_id: randomUUID(),
      ce_source: "/examples/js",
      ce_type: "io.duestream.schedule.v1",
      ce_outputtopic: topic,
      ce_delayby: delay,
      "content-type": "text/plain",
    },
  };
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
