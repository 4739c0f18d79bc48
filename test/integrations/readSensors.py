"""python readSensors.py CONFIG_DIR: sets up Home Assistant's own `rest` integration with the configuration of a folder,
polls once, and prints the state of each sensor as JSON."""

import asyncio
import json
import sys

from homeassistant import bootstrap, config, loader
from homeassistant.config_entries import ConfigEntries
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component


async def main(folder):
    hass = HomeAssistant(folder)
    loader.async_setup(hass)
    hass.config_entries = ConfigEntries(hass, {})
    await bootstrap.async_load_base_functionality(hass)
    settings = await config.async_hass_config_yaml(hass)
    assert await async_setup_component(hass, "rest", settings)
    await hass.async_start()
    await hass.async_block_till_done()
    print(json.dumps({state.entity_id: state.state for state in hass.states.async_all("sensor")}))
    await hass.async_stop()


asyncio.run(main(sys.argv[1]))
