"""Units of measurement: what they measure, and how much of a base unit they are.

Factors are exact fractions (SI Brochure, 9th edition; NIST SP 811, appendix B). A unit that is used in two sizes has both: a
megabyte is 10⁶ or 2²⁰ bytes, a gallon that of the US or of the UK. Months and years are counted apart from days, since
they have no fixed number of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["CURRENCIES", "NO_UNITS", "UNITS", "MeasurementUnit"]


@dataclass(frozen=True, slots=True)
class MeasurementUnit:
    """A unit: what it measures (``dimension``), its sizes in the base unit, the base unit's value at 0, and its system."""

    dimension: str
    sizes: tuple[Fraction, ...]
    zero: Fraction = Fraction(0)
    metric: bool = True

    def values(self, number: Fraction) -> frozenset[Fraction]:
        """Convert a number of this unit to the base unit, by each of its sizes."""
        return frozenset(number * size + self.zero for size in self.sizes)


_TABLE = """
length    1e-6      µm micron microns micrometre micrometres micrometer micrometers
length    1e-3      mm millimetre millimetres millimeter millimeters
length    1e-2      cm centimetre centimetres centimeter centimeters
length    1         m metre metres meter meters
length    1000      km kilometre kilometres kilometer kilometers
mass      1e-6      mg milligram milligrams
mass      1e-3      g gram grams gramme grammes
mass      1         kg kilo kilos kilogram kilograms
mass      1000      t tonne tonnes|metric ton|metric tons
duration  1e-3      ms millisecond milliseconds
duration  1         s sec secs second seconds
duration  60        min mins minute minutes
duration  3600      h hr hrs hour hours
duration  86400     d day days
duration  604800    week weeks wk wks
duration  1209600   fortnight fortnights
months    1         month months
months    12        year years yr yrs
months    120       decade decades
months    1200      century centuries
volume    1e-3      ml millilitre millilitres milliliter milliliters cc
volume    1e-2      cl centilitre centilitres centiliter centiliters
volume    0.1       dl decilitre decilitres deciliter deciliters
volume    1         l litre litres liter liters
volume    1000      m³|cubic metre|cubic metres|cubic meter|cubic meters
area      1         m²|square metre|square metres|square meter|square meters|sq m
area      10000     ha hectare hectares
area      1000000   km²|square kilometre|square kilometres|square kilometer|square kilometers|sq km
speed     1         km/h kph kmh|km per hour|kilometres per hour|kilometers per hour|kilometres an hour|kilometers an hour
speed     3.6       m/s|metres per second|meters per second
power     1         w watt watts
power     1000      kw kilowatt kilowatts
power     1000000   mw megawatt megawatts
power     1e9       gw gigawatt gigawatts
energy    1         j joule joules
energy    1000      kj kilojoule kilojoules
energy    4184      kcal kilocalorie kilocalories
energy    3600000   kwh|kilowatt hour|kilowatt hours
pressure  1         bar bars
pressure  1e-3      mbar millibar millibars hpa
voltage   1e-3      mv millivolt millivolts
voltage   1         v volt volts
voltage   1000      kv kilovolt kilovolts
frequency 1         hz hertz
frequency 1000      khz kilohertz
frequency 1000000   mhz megahertz
frequency 1e9       ghz gigahertz
share     1/100     %|per cent|percent
share     1/1000    ‰|per mille|per thousand
pixels    1000000   megapixel megapixels mp
"""
_OTHERS = """
length    0.0254     inch inches
length    0.3048     ft foot feet
length    0.9144     yd yard yards
length    1609.344   mi mile miles
mass      0.028349523125 oz ounce ounces
mass      0.45359237 lb lbs
mass      0.45359237  pound pounds
mass      6.35029318 stone stones
area      4046.8564224 acre acres
area      2589988.110336 sqmi|square mile|square miles|sq mi
area      0.09290304 sqft|square foot|square feet|sq ft
speed     1.609344   mph|miles per hour|miles an hour
speed     1.852      knot knots
volume    3.785411784,4.54609 gal gallon gallons
volume    0.473176473,0.56826125 pint pints
"""
_BYTES = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_PREFIXES = {"k": "kilo", "m": "mega", "g": "giga", "t": "tera", "p": "peta"}
_MONEY = {
    "usd": ("$", "us$", "dollar", "dollars", "us dollars"),
    "eur": ("€", "euro", "euros"),
    "gbp": ("£", "pound sterling", "pounds sterling", "quid"),
    "jpy": ("¥", "yen"),
    "inr": ("₹", "rupee", "rupees"),
    "chf": ("franc", "francs", "swiss francs"),
}


def _read(table: str, *, metric: bool) -> dict[str, MeasurementUnit]:
    found: dict[str, MeasurementUnit] = {}
    for line in table.strip().splitlines():
        dimension, sizes, names = line.split(maxsplit=2)
        unit = MeasurementUnit(dimension, tuple(map(Fraction, sizes.split(","))), metric=metric)
        single, *phrases = names.split("|")
        found |= dict.fromkeys([*single.split(), *phrases], unit)
    return found


def _bytes() -> dict[str, MeasurementUnit]:
    found = dict.fromkeys(("byte", "bytes"), MeasurementUnit("bytes", (Fraction(1),)))
    for letter, power in _BYTES.items():
        either = MeasurementUnit("bytes", (Fraction(1000**power), Fraction(1024**power)))
        found |= dict.fromkeys((f"{letter}b", f"{_PREFIXES[letter]}byte", f"{_PREFIXES[letter]}bytes"), either)
        found[f"{letter}ib"] = MeasurementUnit("bytes", (Fraction(1024**power),))
    return found


def _temperatures() -> dict[str, MeasurementUnit]:
    celsius = MeasurementUnit("temperature", (Fraction(1),))
    fahrenheit = MeasurementUnit("temperature", (Fraction(5, 9),), Fraction(-160, 9), metric=False)
    found = dict.fromkeys(("°c", "celsius", "degrees celsius", "degrees c", "degrees centigrade"), celsius)
    return found | dict.fromkeys(("°f", "fahrenheit", "degrees fahrenheit", "degrees f"), fahrenheit)


UNITS: dict[str, MeasurementUnit] = {
    **_read(_TABLE, metric=True),
    **_read(_OTHERS, metric=False),
    **_bytes(),
    **_temperatures(),
    **{name: MeasurementUnit(code, (Fraction(1),)) for code, names in _MONEY.items() for name in (code, *names)},
}
"""Every unit by its names, in lower case, words of a name parted by single spaces."""
CURRENCIES = frozenset(_MONEY)
"""The dimensions of money: a currency each, by its code in ISO 4217."""
NO_UNITS = frozenset({*"ABCDEFGHIKMNOPQRSTUXYZ", "Mg", "Mm", "mW", "Gb", "Mb", "Kb", "kb", "Tb"})
"""Letters that are none of these units as they are written: others by the case of a letter, or not a unit at all ("5G")."""
