//! The models that can be chosen.

use crate::base::text::near;
use crate::config::builtin;
use crate::conversation::model::ModelSpec;

use super::live::LiveSession;

/// Every model of the configuration and of the built-in providers that have a key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Models {
    known: Vec<ModelSpec>,
    /// Names of all providers, also those without a described model.
    providers: Vec<String>,
}

impl Models {
    pub fn new(known: Vec<ModelSpec>, mut providers: Vec<String>) -> Self {
        providers.sort();
        providers.dedup();
        Self { known, providers }
    }

    pub fn known(&self) -> &[ModelSpec] {
        &self.known
    }

    /// Returns the model `provider/id`. An id that nobody described works with stated defaults.
    pub fn find_label(&self, label: &str) -> Result<ModelSpec, String> {
        let Some((provider, id)) = label.split_once('/') else {
            return Err(format!("`{label}` is not PROVIDER/MODEL, such as {}", self.example()));
        };
        if id.is_empty() || !self.providers.iter().any(|name| name == provider) {
            let names = self.providers.iter().map(String::as_str);
            let nearest = near::nearest(provider, names);
            let help = nearest.map_or_else(
                || format!("known are {}", self.providers.join(", ")),
                |name| format!("did you mean {name}?"),
            );
            return Err(format!("there is no provider `{provider}`: {help}"));
        }
        Ok(self.find(provider, id))
    }

    /// Returns the model as described, or with the defaults for one that is not.
    pub fn find(&self, provider: &str, id: &str) -> ModelSpec {
        let is_it = |spec: &&ModelSpec| spec.provider == provider && spec.id == id;
        self.known.iter().find(is_it).cloned().unwrap_or_else(|| undescribed(provider, id))
    }

    /// The model of a session.
    pub fn spec_of(&self, live: &LiveSession) -> ModelSpec {
        let choice = live.model();
        self.find(&choice.provider, &choice.id)
    }

    fn example(&self) -> String {
        self.known.first().map_or_else(
            || "openai/gpt-5".to_owned(),
            |spec| format!("{}/{}", spec.provider, spec.id),
        )
    }
}

fn undescribed(provider: &str, id: &str) -> ModelSpec {
    ModelSpec {
        provider: provider.to_owned(),
        id: id.to_owned(),
        limits: builtin::assumed_limits(provider),
        gears: Vec::new(),
        thinking_off_allowed: false,
        images: false,
        price: None,
    }
}
