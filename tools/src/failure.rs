//! Why a command ends, and the exit code that says so: 0 done, 1 bad input, 2 wrong use.

use std::error::Error;
use std::io;
use std::process::ExitCode;

/// Why a command could not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was given cannot be read, or is not what it should be.
    Input(String),
    /// The command line asks for something that makes no sense.
    Usage(String),
    /// Nobody reads what is written: `yatta … | head`. Not worth a word.
    Closed,
}

impl Failure {
    /// Says what is wrong, if there is somebody to tell, and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Input(error) => {
                eprintln!("yatta: {error}");
                ExitCode::from(1)
            }
            Self::Usage(error) => {
                eprintln!("yatta: {error}");
                ExitCode::from(2)
            }
            Self::Closed => ExitCode::SUCCESS,
        }
    }
}

/// Of writing; reading names the file and is turned into [`Failure::Input`] where it happens.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Input(format!("cannot write: {error}")),
        }
    }
}

impl From<Box<dyn Error>> for Failure {
    fn from(error: Box<dyn Error>) -> Self {
        match error.downcast::<io::Error>() {
            Ok(error) => (*error).into(),
            Err(error) => Self::Input(error.to_string()),
        }
    }
}
