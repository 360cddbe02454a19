//! `yatta serve`: the sync server of the crate `yatta-server`.

use yatta_server::Config;

/// The arguments are the settings of the server.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    config: Config,
}

/// Runs until SIGTERM or SIGINT.
pub(crate) fn run(args: Args) -> Result<(), Box<dyn std::error::Error>> {
    Ok(yatta_server::server::run(args.config)?)
}
