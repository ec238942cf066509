//! What rust-rdkafka meets on a broker that asks who it is: an attempt for each line of the input, an object for each
//! attempt. `walks/secure.py` describes them.

use std::error::Error;
use std::io::{stdin, BufRead};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rdkafka::client::{ClientContext, OAuthToken};
use rdkafka::config::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::statistics::Statistics;
use serde_json::json;
use tokio::time::sleep;

const PATIENCE: Duration = Duration::from_secs(30);
const OFTEN: Duration = Duration::from_millis(100);
const HOUR_MS: i64 = 3_600_000;

/// What the library tells beside the result of a record: it tries a login again without end.
#[derive(Default)]
struct Told {
    refused: AtomicBool,
    throttle_ms: AtomicI64,
}

struct Context {
    user: String,
    token: String,
    told: Arc<Told>,
}

impl ClientContext for Context {
    const ENABLE_REFRESH_OAUTH_TOKEN: bool = true;

    fn error(&self, error: KafkaError, _reason: &str) {
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::Authentication) {
            self.told.refused.store(true, Ordering::Relaxed);
        }
    }

    fn stats(&self, statistics: Statistics) {
        let longest =
            statistics.brokers.values().filter_map(|one| one.throttle.as_ref()).map(|window| window.max).max();
        self.told.throttle_ms.fetch_max(longest.unwrap_or(0), Ordering::Relaxed);
    }

    fn generate_oauth_token(&self, _config: Option<&str>) -> Result<OAuthToken, Box<dyn Error>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64;
        Ok(OAuthToken { token: self.token.clone(), principal_name: self.user.clone(), lifetime_ms: now + HOUR_MS })
    }
}

fn settings(fields: &[&str]) -> ClientConfig {
    let mut given = ClientConfig::new();
    given.set("bootstrap.servers", fields[0]).set("security.protocol", fields[1]).set("statistics.interval.ms", "100");
    if !fields[2].is_empty() {
        given.set("sasl.mechanism", fields[2]);
    }
    if !fields[2].is_empty() && fields[2] != "OAUTHBEARER" {
        given.set("sasl.username", fields[3]).set("sasl.password", fields[4]);
    }
    if !fields[5].is_empty() {
        given.set("ssl.ca.location", fields[5]);
    }
    if !fields[6].is_empty() {
        given.set("ssl.certificate.location", fields[6]).set("ssl.key.location", fields[6]);
    }
    given
}

/// The name of the first error, and what it says.
async fn attempt(fields: &[&str], told: Arc<Told>) -> Result<(), (String, String)> {
    let context = Context { user: fields[3].into(), token: fields[4].into(), told: told.clone() };
    let unknown = |error: KafkaError| (named(&error), error.to_string());
    let producer: FutureProducer<Context> = settings(fields).create_with_context(context).map_err(unknown)?;
    let value = "x".repeat(fields[9].parse().unwrap_or_default());
    for _ in 0..fields[8].parse().unwrap_or_default() {
        let sent = producer.send(FutureRecord::<(), _>::to(fields[7]).payload(&value), PATIENCE);
        tokio::select! {
            result = sent => { result.map_err(|(error, _)| unknown(error))?; }
            () = refused(&told) => return Err(("Authentication".into(), "the login failed".into())),
            () = sleep(PATIENCE) => return Err(("none".into(), "not done".into())),
        }
    }
    sleep(2 * OFTEN).await; // for the statistics
    Ok(())
}

async fn refused(told: &Told) {
    while !told.refused.load(Ordering::Relaxed) {
        sleep(OFTEN).await;
    }
}

fn named(error: &KafkaError) -> String {
    error.rdkafka_error_code().map_or_else(|| "other".into(), |code| format!("{code:?}"))
}

#[tokio::main]
async fn main() {
    for line in stdin().lock().lines().map_while(Result::ok) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (told, began) = (Arc::new(Told::default()), Instant::now());
        let (error, about) = attempt(&fields, told.clone()).await.err().unwrap_or_default();
        let throttle_ms = told.throttle_ms.load(Ordering::Relaxed);
        let seconds = began.elapsed().as_secs_f64();
        println!("{}", json!({"error": error, "seconds": seconds, "throttle_ms": throttle_ms, "about": about}));
    }
}
