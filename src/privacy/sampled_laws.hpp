// The laws of events on a sample that are no mixtures of normals: those with finitely many losses,
// and all others through their own profile.
#pragma once

#include "privacy/base_laws.hpp"
#include "privacy/components.hpp"

namespace shoal::privacy {

// Laws with finitely many losses keep their form under Poisson sampling. Null for other events.
LawPointer sampled_atoms(const Event& inner, const Sampling& sampling);

// Any event on a Poisson sample, under add_remove, through its own profile.
Component sampled_curve(const Event& event, const Sampling& sampling);

// A sample in which a person may have been exchanged. With A, B, B' the outputs without the
// person, with, and with the other one: advanced joint convexity (Balle, Barthe and Gaboardi
// 2018). For samples of fixed size there is always someone, so only B against B' remains.
Component replaced_sample(const Event& event, double rate, bool fixed_size);

}  // namespace shoal::privacy
